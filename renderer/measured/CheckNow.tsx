// A check of a model while it runs, and what it ended with where a person has to know: it failed, or the answers are not the same.
import type { MatrixCheck } from '@contract/models';
import { LoaderCircle, TriangleAlert } from 'lucide-react';
import { useT } from '../i18n';
import { ErrorNote } from '../parts/ErrorNote';
import { Notice } from '../parts/Notice';
import { attempt } from '../state/actions';
import { checkModel } from '../state/modelActions';
import { phaseKey } from './matrixTable';

export function CheckNow({ check }: { check: MatrixCheck }) {
  const t = useT();
  const { model, state, phase, row, error } = check;
  if (state === 'running') {
    return <Notice icon={<LoaderCircle className="spin" size={16} aria-hidden />} text={t(phaseKey(phase))} />;
  }
  if (error) {
    return (
      <ErrorNote error={error}>
        <button type="button" className="button" onClick={() => attempt(checkModel(model))}>
          {t('common.retry')}
        </button>
      </ErrorNote>
    );
  }
  if (row?.selfCheck !== 'changed') return null;
  return (
    <Notice icon={<TriangleAlert size={16} aria-hidden />} text={t('measured.changedText')}>
      <button type="button" className="button" onClick={() => attempt(checkModel(model, true))}>
        {t('measured.accept')}
      </button>
    </Notice>
  );
}
