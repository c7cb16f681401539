// The model in use does worse than it did: what, and the way to the numbers.
import { TriangleAlert } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { TITLES } from '../measured/matrixTable';
import { Notice } from '../parts/Notice';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { loadModel } from '../state/modelActions';
import { pageHref } from '../state/page';

export function RegressionNote({ onAct }: { onAct?: () => void }) {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  if (!active?.regression || active.state !== 'ready') return null;
  const { rollback } = active.regression;
  const titles = active.regression.measures.map((measure) => t(TITLES[measure]));
  const names = new Intl.ListFormat(currentLanguage(), { type: 'conjunction' }).format(titles);
  return (
    <Notice icon={<TriangleAlert size={16} aria-hidden />} text={t('measured.worseNow', { name: active.name, names })}>
      {rollback !== undefined && (
        <button
          type="button"
          className="button"
          onClick={() => {
            onAct?.();
            attempt(loadModel(rollback));
          }}
        >
          {t('measured.rollback', { name: rollback })}
        </button>
      )}
      <a className="button" href={pageHref('models', 'measured')} onClick={onAct}>
        {t('measured.see')}
      </a>
    </Notice>
  );
}
