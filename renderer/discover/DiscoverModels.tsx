// Models that could be fetched: those that we know first, then what the hub finds. Without the hub the known ones remain.
import { Search, WifiOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ApiError } from '../api/client';
import { useT } from '../i18n';
import { HubTrouble } from '../model/HubTrouble';
import { Blank } from '../parts/Blank';
import { Notice } from '../parts/Notice';
import { saveSettings } from '../state/actions';
import { refreshModel, useDiscover } from '../state/modelQueries';
import { HubCard } from './HubCard';
import './discover.css';

/** A pause in typing, so that the hub is asked for words and not for letters. */
const PAUSE_MS = 350;

/** So many of the known models show their file at once; of the others only those that one looks at are asked for. */
const EAGER = 4;

export function DiscoverModels() {
  const t = useT();
  const [text, setText] = useState('');
  const query = useSettled(text.trim());
  const result = useDiscover(query);
  const pages = result.data?.pages ?? [];
  const models = pages.flatMap((page) => page.models);
  const offline = pages[0]?.offline;
  return (
    <section className="section">
      <h2 className="hidden">{t('models.part.discover')}</h2>
      <label className="search">
        <Search size={16} aria-hidden />
        <input
          className="field"
          type="search"
          value={text}
          spellCheck={false}
          aria-label={t('discover.search')}
          placeholder={t('discover.placeholder')}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {offline && <Offline why={offline} />}
      {result.error instanceof ApiError && (
        <HubTrouble error={result.error.shape} again={t('common.retry')} onAgain={refreshModel.discover} />
      )}
      {result.isSuccess && models.length === 0 && <Blank text={t('discover.none', { query })} />}
      <ul className="models" aria-busy={result.isFetching}>
        {models.map((model, index) => (
          <HubCard
            key={model.repo}
            model={model}
            eager={model.featured && index < EAGER}
            reachable={offline === undefined}
          />
        ))}
      </ul>
      {result.hasNextPage && (
        <button
          type="button"
          className="button discover-more"
          disabled={result.isFetchingNextPage}
          onClick={() => void result.fetchNextPage()}
        >
          {t('discover.more')}
        </button>
      )}
    </section>
  );
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function Offline({ why }: { why: 'setting' | 'unreachable' }) {
  const t = useT();
  const online = (): void => saveSettings({ offline: false });
  return (
    <Notice icon={<WifiOff size={16} aria-hidden />} text={t(`discover.offline.${why}`)}>
      <button type="button" className="button" onClick={why === 'setting' ? online : refreshModel.discover}>
        {t(why === 'setting' ? 'discover.goOnline' : 'common.retry')}
      </button>
    </Notice>
  );
}
