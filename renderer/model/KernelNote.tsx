// Kernels that failed their self-test on the model's device: said for as long as safer ones stand in. The sentences are the engine's own.
import { Info } from 'lucide-react';
import { useT } from '../i18n';
import { Notice } from '../parts/Notice';
import { useApp } from '../state/app';

export function KernelNote() {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  const { replacedKernels = [], gpu = '' } = active ?? {};
  if (replacedKernels.length === 0) return null;
  const text = (
    <>
      {t('device.replaced', { count: replacedKernels.length, device: gpu })}
      <details>
        <summary>{t('device.replacedWhich')}</summary>
        <ul lang="en">
          {replacedKernels.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </details>
    </>
  );
  return <Notice icon={<Info size={16} aria-hidden />} text={text} />;
}
