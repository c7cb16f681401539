// Under the models that are here: one or two that are known to be good and would fit. They lead to where they can be fetched.
import { currentLanguage, useT } from '../i18n';
import { bytes } from '../parts/format';
import { useLookedAt } from '../state/modelQueries';
import { pageHref } from '../state/page';
import { FitPill } from './FitPill';

const MOST = 2;

export function Suggested({ filter, onDone }: { filter: string; onDone: () => void }) {
  const t = useT();
  // What was looked at on the page "Discover": opening a menu asks nobody.
  const fitting = useLookedAt()
    .map((model) => ({ model, file: model.files?.find(({ path }) => path === model.suggested) }))
    .filter(({ model, file }) => model.featured && file && !file.local && file.fit && file.fit.verdict !== 'too_big')
    .slice(0, MOST);
  if (filter || fitting.length === 0) return null;
  return (
    <div className="picker-suggested">
      <p className="picker-title">{t('model.suggested')}</p>
      <ul>
        {fitting.map(({ model, file }) => (
          <li key={model.repo}>
            <a className="picker-option" href={pageHref('models', 'discover')} onClick={onDone}>
              <span className="picker-sign" />
              <span className="picker-words">
                <bdi className="picker-name">{model.title}</bdi>
                <span className="picker-details num">
                  {file?.fit && <FitPill fit={file.fit} short />}
                  {file && <span>{bytes(file.bytes, currentLanguage())}</span>}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
