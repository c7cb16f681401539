// Numbers as people read them, in the page's language. Pure; the language comes as an argument.
import type { Language } from '../i18n';

/** Decimal units, as file managers and `hearth ls` show them. */
export function bytes(value: number, language: Language): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  let amount = value / 1000;
  let unit = 0;
  while (amount >= 1000 && unit < units.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${decimal(amount, amount < 10 && unit > 1 ? 1 : 0, language)} ${units[unit] ?? ''}`;
}

export function decimal(value: number, digits: number, language: Language): string {
  return new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    value,
  );
}

export const whole = (value: number, language: Language): string => decimal(value, 0, language);

/** Tokens per second: one decimal below 100. */
export const speed = (value: number, language: Language): string => decimal(value, value < 100 ? 1 : 0, language);

/** Milliseconds as seconds: one or two decimals while they matter. */
export function seconds(ms: number, language: Language): string {
  const value = ms / 1000;
  return decimal(value, value < 1 ? 2 : value < 10 ? 1 : 0, language);
}

export const percent = (fraction: number, language: Language): string =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 }).format(fraction);

/** Parameters: "20.9B". Chinese counts in 亿. */
export const count = (value: number, language: Language): string =>
  new Intl.NumberFormat(language, { notation: 'compact', maximumSignificantDigits: 3 }).format(value);

export type Day = 'today' | 'yesterday' | 'week' | 'month' | 'older';

export function dayOf(time: number, now: number): Day {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const day = 86_400_000;
  if (time >= midnight) return 'today';
  if (time >= midnight - day) return 'yesterday';
  if (time >= midnight - 7 * day) return 'week';
  if (time >= midnight - 30 * day) return 'month';
  return 'older';
}

/** Tokens on a page of print, roughly: 500 words of 1.3 tokens. */
const TOKENS_PER_PAGE = 650;
export const pagesOf = (tokens: number): number => Math.floor(tokens / TOKENS_PER_PAGE);

/** What a writing speed is to a reader: three English words for four tokens, about as many Chinese characters as tokens. */
export function wordsPerSecond(tokensPerSecond: number, language: Language): string {
  const words = tokensPerSecond * (language === 'zh-CN' ? 1.1 : 0.75);
  return decimal(words, words < 3 ? 1 : 0, language);
}

/** A time that is still to come, as coarse as it is uncertain: "14 sec", "3 min". */
export function span(ms: number, language: Language): string {
  const value = Math.max(1, Math.round(ms / 1000));
  const [count, unit] =
    value < 90
      ? [value, 'second']
      : value < 5400
        ? [Math.round(value / 60), 'minute']
        : [Math.round(value / 3600), 'hour'];
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).format(count);
}

/** Day and time, short: a table's column. */
export const moment = (time: number, language: Language): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(time);

/** How long something took: "42 ms", "2.1 sec". */
export const milliseconds = (ms: number, language: Language): string =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit: ms < 1000 ? 'millisecond' : 'second',
    unitDisplay: 'short',
    maximumFractionDigits: ms < 1000 ? 0 : 1,
  }).format(ms < 1000 ? ms : ms / 1000);
