// One download as it is shown: its record, its phase, and how far it is. What is shown never falls, whatever is fetched a second time.
import { HearthError } from '../../contract/errors';
import type { Download } from '../../contract/models';
import { Speed } from './speed';
import type { DownloadRecord } from './types';

export class Entry {
  phase: Download['phase'];
  fraction: number | undefined;
  error: HearthError | undefined;
  /** Name of the model, once it is one. */
  model: string | undefined;
  /** Present while it runs. */
  running: { stop: AbortController; ended: Promise<void> } | undefined;
  /** The last writing of the record. */
  saved: Promise<void> = Promise.resolve();
  readonly speed = new Speed();
  private stored: number[];
  private shown = 0;

  constructor(public record: DownloadRecord) {
    this.stored = record.files.map(() => 0);
    this.error = record.error && HearthError.from(record.error);
    this.phase = record.error ? 'failed' : record.paused ? 'paused' : 'queued';
  }

  get id(): string {
    return this.record.id;
  }

  get totalBytes(): number {
    return this.record.files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get missingBytes(): number {
    return Math.max(0, this.totalBytes - this.stored.reduce((sum, bytes) => sum + bytes, 0));
  }

  setStored(index: number, bytes: number): void {
    this.stored[index] = bytes;
    this.shown = Math.max(this.shown, this.totalBytes - this.missingBytes);
  }

  /** Another file under the same name: nothing of the old one counts. */
  beginAnew(record: DownloadRecord): void {
    this.record = record;
    this.stored = record.files.map(() => 0);
    this.shown = 0;
  }

  show(now: number): Download {
    const { record, phase, totalBytes, fraction, error, model } = this;
    const fetching = phase === 'fetching' || phase === 'repairing';
    const bytesPerSecond = fetching ? this.speed.perSecond(now) : 0;
    const doneBytes = phase === 'done' ? totalBytes : Math.min(totalBytes, this.shown);
    return {
      id: record.id,
      source: record.source,
      repo: record.repo,
      file: record.file,
      phase,
      doneBytes,
      totalBytes,
      bytesPerSecond,
      ...(bytesPerSecond > 0 && { etaMs: Math.round(((totalBytes - doneBytes) / bytesPerSecond) * 1000) }),
      ...(phase === 'verifying' && fraction !== undefined && { fraction }),
      ...(record.restarted && { restarted: true }),
      ...(phase === 'failed' && error && { error: error.toShape() }),
      ...(model !== undefined && { model }),
    };
  }
}
