// The compatibility matrix as a table for reading: columns with their words, and rows grouped by model, newest first. Pure.
import type { CheckPhase, MatrixCheck, MatrixRow, Measure, SelfCheck } from '@contract/models';
import type { Key, Language, Translate } from '../i18n';
import { bytes, pagesOf, seconds, whole, wordsPerSecond } from '../parts/format';

/** The numbers of a row, in the order of the table's columns. */
export const NUMBERS = ['loadMs', 'prefillTps', 'decodeTps', 'ttftMs', 'memoryBytes'] as const;
export type NumberName = (typeof NUMBERS)[number];

export const TITLES = {
  loadMs: 'measured.load',
  prefillTps: 'measured.reading',
  decodeTps: 'measured.writing',
  ttftMs: 'measured.first',
  memoryBytes: 'measured.memory',
  tokens: 'measured.answers',
} as const satisfies Record<NumberName | Measure, Key>;

export function numberWords(t: Translate, row: MatrixRow, name: NumberName, language: Language): string | undefined {
  const value = row[name];
  if (value === undefined) return undefined;
  switch (name) {
    case 'loadMs':
    case 'ttftMs':
      return t('measured.seconds', { seconds: seconds(value, language) });
    case 'memoryBytes':
      return bytes(value, language);
    default:
      return wordsPerSecond(value, language);
  }
}

/** The exact figure behind the words, for who wants it. */
export function exactWords(t: Translate, row: MatrixRow, name: NumberName, language: Language): string | undefined {
  if (name !== 'prefillTps' && name !== 'decodeTps') return undefined;
  const value = row[name];
  return value === undefined ? undefined : t('measured.tokens', { count: whole(value, language) });
}

export interface Group {
  model: string;
  rows: MatrixRow[];
}

export function groupRows(rows: readonly MatrixRow[]): Group[] {
  const groups = new Map<string, MatrixRow[]>();
  for (const row of [...rows].sort((a, b) => b.at - a.at))
    groups.set(row.model, [...(groups.get(row.model) ?? []), row]);
  return [...groups].map(([model, own]) => ({ model, rows: own }));
}

/** The self-check as one word; where it was never made, nothing is claimed. */
export const checkKey = ({ selfCheck }: MatrixRow): `measured.check.${SelfCheck}` => `measured.check.${selfCheck}`;

export function conversationWords(t: Translate, { contextBucket }: MatrixRow): string {
  if (contextBucket === 0) return t('measured.unused');
  return t('measured.upTo', { count: Math.max(1, pagesOf(contextBucket)) });
}

export const regressed = (row: MatrixRow, name: NumberName): boolean =>
  row.regressions.some((measure) => measure === name);

/** What got worse, as a list in words. */
export function worseWords(t: Translate, measures: readonly Measure[], language: Language): string {
  const names = measures.map((measure) => t(TITLES[measure]));
  return t('measured.worse', { names: new Intl.ListFormat(language, { type: 'conjunction' }).format(names) });
}

export const phaseKey = (phase: CheckPhase): `measured.phase.${CheckPhase}` => `measured.phase.${phase}`;

export const isChecking = ({ state }: MatrixCheck): boolean => state === 'running';
