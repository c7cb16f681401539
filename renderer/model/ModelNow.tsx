// What is happening to the model in front, with the one thing that can be done about it: end a load, leave a swap, go back.
import { ArrowLeftRight, LoaderCircle, Undo2 } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { Notice } from '../parts/Notice';
import { Progress } from '../parts/Progress';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { cancelLoad, loadModel, unloadModel } from '../state/modelActions';
import { LoadFailure } from './LoadFailure';
import { isRestarting, loadShare, phaseWords } from './modelWords';
import { nowOf, swapWords } from './nowWords';

export function ModelNow({ onAct }: { onAct?: () => void }) {
  const t = useT();
  const language = currentLanguage();
  const state = useApp((app) => app.state);
  const now = nowOf(state);
  switch (now?.kind) {
    case 'loading': {
      const { active } = now;
      if (isRestarting(active)) return <Restarting name={active.name} />;
      return (
        <Notice icon={<LoaderCircle className="spin" size={16} aria-hidden />} text={<Loading active={active} />}>
          <button type="button" className="button" onClick={() => attempt(cancelLoad())}>
            {t('load.stop')}
          </button>
        </Notice>
      );
    }
    case 'swap':
      return (
        <Notice
          icon={<ArrowLeftRight size={16} aria-hidden />}
          text={
            <>
              <p className="num">{swapWords(t, now.swap, language)}</p>
              {now.swap.waiting > 0 && <p className="now-more">{t('swap.waiting', { count: now.swap.waiting })}</p>}
            </>
          }
        >
          <button type="button" className="button" onClick={() => attempt(cancelLoad())}>
            {t('swap.leave')}
          </button>
        </Notice>
      );
    case 'failed':
      return <LoadFailure model={now.name} error={now.error} {...(onAct && { onAct })} />;
    case 'back':
      return (
        <Notice icon={<Undo2 size={16} aria-hidden />} text={t('swap.before', { name: now.previous })}>
          <button
            type="button"
            className="button"
            onClick={() => {
              onAct?.();
              attempt(loadModel(now.previous));
            }}
          >
            {t('swap.back')}
          </button>
        </Notice>
      );
    default:
      return null;
  }
}

function Restarting({ name }: { name: string }) {
  const t = useT();
  return (
    <Notice icon={<LoaderCircle className="spin" size={16} aria-hidden />} text={t('model.restarting', { name })}>
      <button type="button" className="button" onClick={() => attempt(unloadModel(name))}>
        {t('models.unload')}
      </button>
    </Notice>
  );
}

function Loading({ active }: { active: Parameters<typeof phaseWords>[1] }) {
  const t = useT();
  return (
    <div className="now-load">
      <span className="num">
        {t('load.doing', { name: active.name, phase: phaseWords(t, active, currentLanguage()) })}
      </span>
      <Progress share={loadShare(active)} />
    </div>
  );
}
