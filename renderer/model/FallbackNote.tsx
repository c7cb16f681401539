// The model in use runs on the processor, or on fewer devices, because one failed: said for as long as it is so, with the way back.
import { TriangleAlert } from 'lucide-react';
import { useT } from '../i18n';
import { Notice } from '../parts/Notice';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { reloadModel } from '../state/modelActions';
import { pageHref } from '../state/page';
import { fallbackWords } from './deviceWords';

export function FallbackNote({ onAct }: { onAct?: () => void }) {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  const words = active && fallbackWords(t, active);
  if (!active || words === undefined || active.state !== 'ready') return null;
  const again = (): void => {
    onAct?.();
    attempt(reloadModel(active.name));
  };
  return (
    <Notice icon={<TriangleAlert size={16} aria-hidden />} text={words}>
      <button type="button" className="button" onClick={again}>
        {t('device.again')}
      </button>
      <a className="button" href={pageHref('settings', 'storage')} onClick={onAct}>
        {t('device.settings')}
      </a>
    </Notice>
  );
}
