// The models that lie on this computer: what is happening now, a card each, and where they are looked for.
import type { ModelEntry } from '@contract/own';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { currentLanguage, useT } from '../i18n';
import { ImportButton } from '../downloads/ImportButton';
import { ModelNow } from '../model/ModelNow';
import { FallbackNote } from '../model/FallbackNote';
import { KernelNote } from '../model/KernelNote';
import { RegressionNote } from '../model/RegressionNote';
import { SpillNote } from '../model/SpillNote';
import { isBroken } from '../model/modelWords';
import { Blank } from '../parts/Blank';
import { CopyButton } from '../parts/CopyButton';
import { bytes } from '../parts/format';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { lookForModels } from '../state/modelActions';
import { pageHref } from '../state/page';
import { useModels } from '../state/queries';
import { ModelCard } from './ModelCard';
import './local.css';

export function LocalModels() {
  const t = useT();
  const { data = [], isSuccess } = useModels();
  const models = data.filter((model) => model.remote === undefined);
  return (
    <section className="section">
      <h2 className="hidden">{t('models.part.here')}</h2>
      <ModelNow />
      <FallbackNote />
      <SpillNote />
      <KernelNote />
      <RegressionNote />
      {models.length > 0 && <Bar models={models} />}
      {isSuccess && models.length === 0 && (
        <Blank text={t('models.none')}>
          <a className="button button-main" href={pageHref('models', 'discover')}>
            {t('models.find')}
          </a>
        </Blank>
      )}
      <ul className="models">
        {[...models].sort(byUse).map((model) => (
          <ModelCard key={model.path} model={model} />
        ))}
      </ul>
      <Where />
    </section>
  );
}

const ORDER = { ready: 0, loading: 0, unloading: 1, available: 2, failed: 2 };
const byUse = (a: ModelEntry, b: ModelEntry): number =>
  Number(isBroken(a)) - Number(isBroken(b)) ||
  ORDER[a.state] - ORDER[b.state] ||
  (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0) ||
  a.name.localeCompare(b.name);

function Bar({ models }: { models: ModelEntry[] }) {
  const t = useT();
  const [looking, setLooking] = useState(false);
  const size = bytes(
    models.reduce((sum, model) => sum + model.fileBytes, 0),
    currentLanguage(),
  );
  const look = async (): Promise<void> => {
    setLooking(true);
    await lookForModels().finally(() => setLooking(false));
  };
  return (
    <div className="models-bar">
      <span className="num">{t('models.count', { count: models.length, size })}</span>
      <button type="button" className="button" disabled={looking} onClick={() => attempt(look())}>
        <RefreshCw className={looking ? 'spin' : undefined} size={15} aria-hidden />
        {t('model.refresh')}
      </button>
    </div>
  );
}

/** Nobody should have to search for the folder. */
function Where() {
  const t = useT();
  const folder = useApp((app) => app.state?.modelsFolder);
  if (folder === undefined) return null;
  return (
    <div className="models-where">
      <p>{t('models.add')}</p>
      <p className="models-folder">
        <bdi>{folder}</bdi>
        <CopyButton text={folder} label={t('models.copyFolder')} />
      </p>
      <p className="models-ways">
        <ImportButton />
        <a href={pageHref('settings', 'storage')}>{t('models.moreFolders')}</a>
      </p>
    </div>
  );
}
