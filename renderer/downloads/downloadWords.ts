// What a download is doing, in words: how far, how fast, how long still. Pure.
import type { Download } from '@contract/models';
import type { Language, Translate } from '../i18n';
import { bytes, percent, span } from '../parts/format';

export const shareOf = ({ doneBytes, totalBytes }: Download): number =>
  totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : 0;

/** The last part of a path is what people know a file by. */
export const fileName = (file: string): string => file.split('/').at(-1) ?? file;

/** From a disk it is copied, from the hub it is fetched. */
export function phaseOf(t: Translate, { phase, source, fraction }: Download, language: Language): string {
  if (phase === 'verifying' && fraction !== undefined)
    return t('download.phase.verifyingAt', { percent: percent(fraction, language) });
  return t(source === 'disk' && phase === 'fetching' ? 'download.phase.copying' : `download.phase.${phase}`);
}

export function amountOf(t: Translate, { doneBytes, totalBytes }: Download, language: Language): string {
  return t('download.amount', { done: bytes(doneBytes, language), total: bytes(totalBytes, language) });
}

/** Speed and time left, only while bytes come in: "0 B/s" says nothing. */
export function paceOf(t: Translate, { phase, bytesPerSecond, etaMs }: Download, language: Language): string[] {
  if (phase !== 'fetching' && phase !== 'repairing') return [];
  const words: string[] = [];
  if (bytesPerSecond > 0) words.push(t('download.speed', { amount: bytes(bytesPerSecond, language) }));
  if (etaMs !== undefined) words.push(t('download.left', { span: span(etaMs, language) }));
  return words;
}

export const isActive = ({ phase }: Download): boolean => phase !== 'done' && phase !== 'failed' && phase !== 'paused';

/** All that are under way as one line for the status bar; undefined where there are none. */
export function trayWords(t: Translate, downloads: readonly Download[], language: Language): string | undefined {
  const open = downloads.filter((download) => download.phase !== 'done');
  if (open.length === 0) return undefined;
  if (open.some(({ phase }) => phase === 'failed')) return t('download.tray.failed');
  const active = open.filter(isActive);
  if (active.length === 0) return t('download.tray.paused');
  if (active.every(({ phase }) => phase === 'reconnecting')) return t('download.tray.reconnecting');
  const total = active.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  const done = active.reduce((sum, { doneBytes }) => sum + doneBytes, 0);
  return t('download.tray', { count: active.length, percent: percent(total > 0 ? done / total : 0, language) });
}
