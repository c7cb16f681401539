// How a model is loaded: three automatic choices, the memory each takes drawn as one bar, what would be put away, and the exact
// numbers for who wants them. Nothing is loaded until the button is pressed.
import type { LoadChoice, LoadPlan, Placement } from '@contract/models';
import { LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../api/client';
import { currentLanguage, useT } from '../i18n';
import { FitPill } from '../model/FitPill';
import { paceWords } from '../model/fitWords';
import { placementWords } from '../model/placementWords';
import { Dialog } from '../parts/Dialog';
import { ErrorNote } from '../parts/ErrorNote';
import { attempt } from '../state/actions';
import { loadModel } from '../state/modelActions';
import { usePlan } from '../state/modelQueries';
import { BudgetBar } from './BudgetBar';
import { DeviceChoice } from './DeviceChoice';
import { ExactContext } from './ExactContext';
import { LoadChoices } from './LoadChoices';
import { withContext } from './budget';
import { closeLoad, useLoadDialog } from './loadDialog';
import './load.css';

export function LoadDialog() {
  const model = useLoadDialog(({ model: wanted }) => wanted);
  return model === undefined ? null : <Planned key={model} model={model} />;
}

function Planned({ model }: { model: string }) {
  const t = useT();
  const [device, setDevice] = useState<string | undefined>();
  const { data: plan, error } = usePlan(model, device);
  if (plan && plan.choices.length > 0)
    return <Choosing key={plan.device} plan={plan} device={device} onDevice={setDevice} />;
  if (plan?.remote !== undefined) return <Elsewhere model={model} engine={plan.remote} />;
  return (
    <Dialog
      title={t('load.title', { name: model })}
      onClose={closeLoad}
      buttons={
        <button type="button" className="button" onClick={closeLoad}>
          {t('common.close')}
        </button>
      }
    >
      {error instanceof ApiError ? (
        <ErrorNote error={error.shape} />
      ) : (
        <p className="load-looking" role="status">
          <LoaderCircle className="spin" size={16} aria-hidden />
          {t('load.looking')}
        </p>
      )}
    </Dialog>
  );
}

/** It is loaded on another computer: of this one's memory there is nothing to say. */
function Elsewhere({ model, engine }: { model: string; engine: string }) {
  const t = useT();
  const load = (): void => {
    closeLoad();
    attempt(loadModel(model));
  };
  return (
    <Dialog
      title={t('load.title', { name: model })}
      text={t('load.elsewhere', { engine })}
      onClose={closeLoad}
      buttons={
        <>
          <button type="button" className="button" onClick={closeLoad}>
            {t('common.cancel')}
          </button>
          <button type="button" className="button button-main" onClick={load}>
            {t('load.go')}
          </button>
        </>
      }
    />
  );
}

interface ChoosingProps {
  plan: LoadPlan;
  device: string | undefined;
  onDevice: (device: string | undefined) => void;
}

function Choosing({ plan, device, onDevice }: ChoosingProps) {
  const t = useT();
  const [id, setId] = useState(plan.recommended);
  const [exact, setExact] = useState<number | undefined>();
  const base = plan.choices.find((candidate) => candidate.id === id) ?? plan.choices[0];
  if (!base) return null;
  const choice = exact === undefined ? base : withContext(base, plan.choices, exact);
  const load = (): void => {
    closeLoad();
    const { context, kvType } = choice;
    attempt(loadModel(plan.model, { context, kvType, ...(device !== undefined && { device }) }));
  };
  const tooBig = choice.fit.verdict === 'too_big';
  return (
    <Dialog
      wide
      title={t('load.title', { name: plan.model })}
      text={t('load.text')}
      onClose={closeLoad}
      buttons={
        <>
          <button type="button" className="button" onClick={closeLoad}>
            {t('common.cancel')}
          </button>
          <button type="button" className={tooBig ? 'button button-bad' : 'button button-main'} onClick={load}>
            {t(tooBig ? 'load.anyway' : 'load.go')}
          </button>
        </>
      }
    >
      <DeviceChoice plan={plan} value={device} onChange={onDevice} />
      <LoadChoices
        choices={plan.choices}
        recommended={plan.recommended}
        value={id}
        onChange={(next) => (setId(next), setExact(undefined))}
      />
      <BudgetBar fit={choice.fit} />
      <Outcome choice={choice} unloads={plan.unloads} placement={plan.placement} />
      <ExactContext choice={choice} choices={plan.choices} onChange={setExact} />
    </Dialog>
  );
}

interface OutcomeProps {
  choice: LoadChoice;
  unloads: readonly string[];
  placement: Placement | undefined;
}

/** What it comes to: does it fit, how fast, and who must make room. */
function Outcome({ choice, unloads, placement }: OutcomeProps) {
  const t = useT();
  const language = currentLanguage();
  const { spareBytes } = choice.fit;
  const pace = paceWords(t, choice.fit, language);
  const names = new Intl.ListFormat(language, { type: 'conjunction' }).format(unloads);
  return (
    <div className="load-outcome" aria-live="polite">
      <p className="load-verdict">
        <FitPill fit={choice.fit} />
        {pace && <span className="num">{pace}</span>}
      </p>
      {choice.fit.verdict === 'too_big' && <p>{t('load.tooBig')}</p>}
      {placement && spareBytes >= 0 && <p>{placementWords(t, { ...placement, spareBytes }, language)}</p>}
      {unloads.length > 0 && <p>{t('load.unloads', { names })}</p>}
    </div>
  );
}
