// The models on this computer: what each is, how large, whether it can be used, and why not.
import type { ModelEntry } from '@contract/own';
import { Check, CircleAlert, LoaderCircle, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { api } from '../api/client';
import { currentLanguage, useT } from '../i18n';
import { factsOf, isBroken, loadShare, phaseWords, sizeWords } from '../model/modelWords';
import { CopyButton } from '../parts/CopyButton';
import { ErrorNote } from '../parts/ErrorNote';
import { bytes } from '../parts/format';
import { attempt, loadModel, lookForModels } from '../state/actions';
import { useApp } from '../state/app';
import { useModels } from '../state/queries';
import './page.css';
import './modelsPage.css';

export function ModelsPage() {
  const t = useT();
  const { data: models = [], isSuccess } = useModels();
  const [looking, setLooking] = useState(false);
  const look = async (): Promise<void> => {
    setLooking(true);
    await lookForModels().finally(() => setLooking(false));
  };
  const size = bytes(
    models.reduce((sum, model) => sum + model.fileBytes, 0),
    currentLanguage(),
  );
  return (
    <div className="page">
      <div className="page-inner">
        <header className="page-head">
          <h1>{t('models.title')}</h1>
          <p>{t('models.text')}</p>
          <AddModels />
        </header>
        <section className="section">
          <div className="models-bar">
            <span className="num">{models.length > 0 && t('models.count', { count: models.length, size })}</span>
            <button type="button" className="button" disabled={looking} onClick={() => attempt(look())}>
              <RefreshCw className={looking ? 'spin' : undefined} size={15} aria-hidden />
              {t('model.refresh')}
            </button>
          </div>
          {isSuccess && models.length === 0 && <p>{t('model.empty')}</p>}
          <ul className="models">
            {[...models].sort(byUse).map((model) => (
              <ModelCard key={model.path} model={model} />
            ))}
          </ul>
        </section>
      </div>
    </div>
  );
}

const ORDER = { ready: 0, loading: 0, unloading: 1, available: 2, failed: 2 };
const byUse = (a: ModelEntry, b: ModelEntry): number =>
  Number(isBroken(a)) - Number(isBroken(b)) || ORDER[a.state] - ORDER[b.state] || a.name.localeCompare(b.name);

/** Nobody should have to search for the folder. */
function AddModels() {
  const t = useT();
  const folder = useApp((app) => app.state?.modelsFolder);
  if (folder === undefined) return null;
  return (
    <>
      <p>{t('models.add')}</p>
      <p className="models-folder">
        <bdi>{folder}</bdi>
        <CopyButton text={folder} label={t('models.copyFolder')} />
      </p>
    </>
  );
}

function ModelCard({ model }: { model: ModelEntry }) {
  const t = useT();
  const language = currentLanguage();
  const facts = factsOf(t, model, language);
  return (
    <li className="card model" data-state={model.state}>
      <div className="model-head">
        <h2>
          <bdi>{model.name}</bdi>
        </h2>
        <span className="model-size num">{sizeWords(model, language)}</span>
        {model.builtin && <span className="model-tag">{t('model.builtin')}</span>}
        <ModelUse model={model} />
      </div>
      {facts.length > 0 && (
        <p className="model-facts">
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
      )}
      {model.error && <ErrorNote error={model.error} />}
      <p className="model-path" title={t('models.where')}>
        <bdi>{model.path}</bdi>
      </p>
    </li>
  );
}

function ModelUse({ model }: { model: ModelEntry }) {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  if (isBroken(model)) {
    return (
      <span className="model-use model-broken">
        <CircleAlert size={15} aria-hidden />
        {t('model.broken')}
      </span>
    );
  }
  const mine = active?.name === model.name;
  if (mine && active.state === 'loading') {
    return (
      <span className="model-use model-loading num" role="status">
        <LoaderCircle className="spin" size={15} aria-hidden />
        {phaseWords(t, active, currentLanguage())}
        <span className="model-progress" aria-hidden>
          <span style={{ transform: `scaleX(${loadShare(active)})` }} />
        </span>
      </span>
    );
  }
  if (model.state === 'ready') {
    return (
      <span className="model-use">
        <span className="model-ready">
          <Check size={15} aria-hidden />
          {t('models.inUse')}
        </span>
        <button type="button" className="button" onClick={() => attempt(api.unload())}>
          {t('models.unload')}
        </button>
      </span>
    );
  }
  return (
    <span className="model-use">
      <button type="button" className="button" onClick={() => attempt(loadModel(model.name))}>
        {t('models.load')}
      </button>
    </span>
  );
}
