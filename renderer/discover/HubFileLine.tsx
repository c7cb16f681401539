// One file of a model: how large, how good, and whether it fits here.
import type { HubFile } from '@contract/models';
import { currentLanguage, useT } from '../i18n';
import { FitPill } from '../model/FitPill';
import { paceWords } from '../model/fitWords';
import { bytes } from '../parts/format';

export function HubFileLine({ file, named }: { file: HubFile; named?: boolean }) {
  const t = useT();
  const language = currentLanguage();
  const pace = file.fit && paceWords(t, file.fit, language);
  return (
    <p className="model-numbers num" title={file.path}>
      {file.fit && <FitPill fit={file.fit} />}
      {pace && file.fit?.verdict !== 'too_big' && <span>{pace}</span>}
      <span>{bytes(file.bytes, language)}</span>
      <span>{t(`quality.${file.quality}`)}</span>
      {named && file.quantization && <span>{file.quantization}</span>}
      {file.parts > 1 && <span>{t('discover.parts', { count: file.parts })}</span>}
    </p>
  );
}
