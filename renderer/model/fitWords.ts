// Whether a model fits, in words: what remains or is lacking, and how fast it would write. Pure.
import type { Fit, Verdict } from '@contract/models';
import type { Language, Translate } from '../i18n';
import { bytes, wordsPerSecond } from '../parts/format';

export function fitWords(t: Translate, { verdict, spareBytes }: Fit, language: Language): string {
  const amount = bytes(Math.abs(spareBytes), language);
  switch (verdict) {
    case 'fits':
      return t('fit.fits', { amount });
    case 'tight':
      return spareBytes >= 0 ? t('fit.tight', { amount }) : t('fit.tightOver', { amount });
    case 'too_big':
      return t('fit.tooBig', { amount });
    default:
      return t('fit.unknown');
  }
}

/** One or two words, where there is no room for the reason. */
export const fitShort = (t: Translate, verdict: Verdict): string => t(`fit.short.${verdict}`);

/** How fast it writes here, measured or expected. */
export function paceWords(t: Translate, { decodeTps, measured }: Fit, language: Language): string | undefined {
  if (!decodeTps) return undefined;
  const words = wordsPerSecond(decodeTps, language);
  return measured ? t('fit.paceMeasured', { words }) : t('fit.pace', { words });
}
