// How fast a model was here and when it was last used, in words. Pure.
import type { ModelEntry } from '@contract/own';
import type { Language, Translate } from '../i18n';
import { dayOf, wordsPerSecond } from '../parts/format';

/** A measured speed first; else what is expected, which says so. */
export function usedWords(t: Translate, model: ModelEntry, language: Language, now = Date.now()): string[] {
  const words: string[] = [];
  const { decodeTps = 0, fit, lastUsedAt } = model;
  if (decodeTps > 0) words.push(t('fit.paceMeasured', { words: wordsPerSecond(decodeTps, language) }));
  else if (fit?.decodeTps) words.push(t('fit.pace', { words: wordsPerSecond(fit.decodeTps, language) }));
  if (lastUsedAt !== undefined) words.push(lastUsed(t, lastUsedAt, language, now));
  return words;
}

function lastUsed(t: Translate, at: number, language: Language, now: number): string {
  const day = dayOf(at, now);
  if (day === 'today') return t('models.usedToday');
  if (day === 'yesterday') return t('models.usedYesterday');
  return t('models.usedOn', { date: new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(at) });
}
