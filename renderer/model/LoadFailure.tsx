// A load that failed: the reason in words and the one action that is most likely to help.
import type { ErrorShape } from '@contract/errors';
import { useT } from '../i18n';
import { openLoad } from '../load/loadDialog';
import { ErrorNote } from '../parts/ErrorNote';
import { attempt } from '../state/actions';
import { loadModel } from '../state/modelActions';
import { goTo } from '../state/page';
import { failureAction } from './failure';

export function LoadFailure({ model, error, onAct }: { model: string; error: ErrorShape; onAct?: () => void }) {
  const t = useT();
  const action = failureAction(error.code);
  const act = (): void => {
    onAct?.();
    if (action === 'smaller') openLoad(model);
    else if (action === 'find') goTo('models', 'discover');
    else attempt(loadModel(model));
  };
  return (
    <ErrorNote title={t('model.loadFailed', { name: model })} error={error}>
      <button type="button" className="button" onClick={act}>
        {t(`failure.${action}`)}
      </button>
    </ErrorNote>
  );
}
