// One model on this computer: whether it fits, how fast it is here, what it is, whether its files are whole, and what can be done.
import type { ErrorShape } from '@contract/errors';
import type { ModelEntry } from '@contract/own';
import { Check, CircleAlert, LoaderCircle } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { openLoad } from '../load/loadDialog';
import { failureAction } from '../model/failure';
import { FitPill } from '../model/FitPill';
import { factsOf, isBroken, loadShare, phaseWords, sizeWords } from '../model/modelWords';
import { ErrorNote } from '../parts/ErrorNote';
import { Progress } from '../parts/Progress';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { loadModel, lookForModels } from '../state/modelActions';
import { goTo } from '../state/page';
import { ModelMenu } from './ModelMenu';
import { PutAway } from './PutAway';
import { VerifiedSign } from './VerifiedSign';
import { usedWords } from './usedWords';

export function ModelCard({ model }: { model: ModelEntry }) {
  const t = useT();
  const language = currentLanguage();
  const facts = factsOf(t, model, language);
  const broken = isBroken(model);
  return (
    <li className="card model" data-state={model.state}>
      <div className="model-head">
        <div className="model-title">
          <h3>
            <bdi>{model.name}</bdi>
          </h3>
          {model.aliases?.map((alias) => (
            <span key={alias} className="model-tag" title={t('models.aliasTitle')}>
              <bdi>{alias}</bdi>
            </span>
          ))}
          {model.builtin && <span className="model-tag">{t('model.builtin')}</span>}
        </div>
        <span className="model-use">
          <ModelUse model={model} />
          <ModelMenu model={model} />
        </span>
      </div>
      {!broken && <Numbers model={model} />}
      {facts.length > 0 && (
        <p className="model-facts">
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
      )}
      {broken && model.error && <Broken error={model.error} />}
      <p className="model-place">
        {model.verification && <VerifiedSign verification={model.verification} />}
        <span className="model-path" title={t('models.where')}>
          {model.folder && model.folder !== 'own' && <span>{t(`folder.kind.${model.folder}`)}</span>}
          <bdi>{model.path}</bdi>
        </span>
      </p>
    </li>
  );
}

/** Why it cannot be used, and the way on. */
function Broken({ error }: { error: ErrorShape }) {
  const t = useT();
  const find = failureAction(error.code) === 'find';
  return (
    <ErrorNote error={error}>
      <button
        type="button"
        className="button"
        onClick={() => (find ? goTo('models', 'discover') : attempt(lookForModels()))}
      >
        {t(find ? 'failure.find' : 'model.refresh')}
      </button>
    </ErrorNote>
  );
}

/** Fit, size, speed and last use: what decides whether one wants it now. */
function Numbers({ model }: { model: ModelEntry }) {
  const t = useT();
  const language = currentLanguage();
  const used = usedWords(t, model, language);
  return (
    <p className="model-numbers num">
      {model.fit && model.state !== 'ready' && <FitPill fit={model.fit} />}
      <span>{sizeWords(model, language)}</span>
      {used.map((words) => (
        <span key={words}>{words}</span>
      ))}
    </p>
  );
}

function ModelUse({ model }: { model: ModelEntry }) {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  if (isBroken(model)) {
    return (
      <span className="model-broken">
        <CircleAlert size={15} aria-hidden />
        {t('model.broken')}
      </span>
    );
  }
  if (model.state === 'loading' || (active?.name === model.name && active.state === 'loading')) {
    const load = active?.name === model.name ? active : { name: model.name, state: 'loading' as const };
    return (
      <span className="model-loading num">
        <LoaderCircle className="spin" size={15} aria-hidden />
        {phaseWords(t, load, currentLanguage())}
        <Progress share={loadShare(load)} />
      </span>
    );
  }
  const bring = (): void => attempt(loadModel(model.name));
  if (model.state === 'ready') {
    const inFront = active?.name === model.name;
    return (
      <>
        <span className="model-ready">
          <Check size={15} aria-hidden />
          {t(inFront ? 'models.inUse' : 'models.loaded')}
        </span>
        {!inFront && (
          <button type="button" className="button" onClick={bring}>
            {t('models.load')}
          </button>
        )}
        <PutAway name={model.name} />
      </>
    );
  }
  // What does not fit is not loaded by one press: the dialog says what would happen.
  const press = (): void => (model.fit?.verdict === 'too_big' ? openLoad(model.name) : bring());
  return (
    <button type="button" className="button" onClick={press}>
      {t('models.load')}
    </button>
  );
}
