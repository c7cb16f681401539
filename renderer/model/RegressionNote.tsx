// The model in use does worse than it did: what, and the way to the numbers.
import { TriangleAlert } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { TITLES } from '../measured/matrixTable';
import { Notice } from '../parts/Notice';
import { useApp } from '../state/app';
import { pageHref } from '../state/page';

export function RegressionNote({ onAct }: { onAct?: () => void }) {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  if (!active?.regression || active.state !== 'ready') return null;
  const titles = active.regression.measures.map((measure) => t(TITLES[measure]));
  const names = new Intl.ListFormat(currentLanguage(), { type: 'conjunction' }).format(titles);
  return (
    <Notice icon={<TriangleAlert size={16} aria-hidden />} text={t('measured.worseNow', { name: active.name, names })}>
      <a className="button" href={pageHref('models', 'measured')} onClick={onAct}>
        {t('measured.see')}
      </a>
    </Notice>
  );
}
