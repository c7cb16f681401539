// The card of the model in use has lost memory to other programs: said for as long as it is so, with the way to a load that fits.
import { TriangleAlert } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { openLoad } from '../load/loadDialog';
import { Notice } from '../parts/Notice';
import { useApp } from '../state/app';
import { spillWords } from './deviceWords';

export function SpillNote({ onAct }: { onAct?: () => void }) {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  const words = active && spillWords(t, active, currentLanguage());
  if (!active || words === undefined) return null;
  const again = (): void => {
    onAct?.();
    openLoad(active.name);
  };
  return (
    <Notice icon={<TriangleAlert size={16} aria-hidden />} text={words}>
      <button type="button" className="button" onClick={again}>
        {t('device.smaller')}
      </button>
    </Notice>
  );
}
