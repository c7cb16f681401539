// One download from beginning to end: fetch each file, compare it with the hub's hash, repair what differs, and only then give the files
// their names. It stops at its signal with everything kept. Which downloads run is the manager's business.
import { stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HearthError } from '../../contract/errors';
import type { Download } from '../../contract/models';
import type { Disk, LongWork } from './disk';
import { diskError } from './disk-error';
import { fetchFile, type FetchTimes } from './fetch-file';
import type { Verdict } from './part-file';
import { Plan } from './plan';
import { partPath, removePart } from './record';
import type { DownloadRecord, FileSource, WantedFile } from './types';

export interface TaskOptions {
  /** The models folder. */
  folder: string;
  record: DownloadRecord;
  disk: Disk;
  source(file: WantedFile): FileSource;
  /** Where a file of a download goes. */
  target(file: WantedFile): string;
  save(): Promise<void>;
  /** Bytes that other downloads will still write on the same disk. */
  promisedBytes(): number;
  phase(phase: Download['phase'], fraction?: number): void;
  received(bytes: number): void;
  /** Bytes of a file that are stored. */
  stored(index: number, bytes: number): void;
  signal: AbortSignal;
  times?: FetchTimes | undefined;
}

/** For what the file system needs for itself. */
const SPARE_BYTES = 16 * 1024 ** 2;
const MAX_REPAIRS = 3;
/** Parts of the file that are fetched a second time before the whole is compared again. */
const SECOND_LOOKS = 16;

const verdictBad = (file: WantedFile) =>
  new HearthError('checksum_mismatch', `The checksum of ${file.path} is not the one that the hub gives.`);

export class Task {
  constructor(private readonly options: TaskOptions) {}

  async run(): Promise<void> {
    const { record } = this.options;
    await this.checkSpace();
    for (const [index, file] of record.files.entries()) {
      if (record.verified.includes(index)) continue;
      await this.complete(index, file);
      record.verified.push(index);
      await this.options.save();
    }
    await this.publish();
  }

  private part(index: number): string {
    return partPath(this.options.folder, this.options.record.id, index);
  }

  /** Before the first byte, and again whenever it goes on. Throws HearthError{disk_full}, which says how much is lacking. */
  private async checkSpace(): Promise<void> {
    const { folder, record, disk } = this.options;
    let needed = 0;
    for (const [index, file] of record.files.entries()) {
      const stored = record.verified.includes(index)
        ? file.bytes
        : await disk.call('stored', [this.part(index), file.bytes]);
      this.options.stored(index, stored);
      // A file that is here already is compared, not fetched.
      if (stored < file.bytes && (await sizeOf(this.options.target(file))) !== file.bytes)
        needed += file.bytes - stored;
    }
    if (needed > 0) checkRoom(needed, (await freeBytes(folder)) - this.options.promisedBytes() - SPARE_BYTES);
  }

  private async complete(index: number, file: WantedFile): Promise<void> {
    const { disk, source, signal } = this.options;
    if (await this.isHere(file)) return this.options.stored(index, file.bytes);
    const part = this.part(index);
    const plan = new Plan(file.bytes, await disk.call('open', [part, file.bytes]));
    try {
      const from = source(file);
      await this.fetch(index, plan, from, 'fetching');
      await this.compared(index, file, plan, from);
    } catch (error) {
      throw await this.withSpace(error, plan);
    } finally {
      await disk.call('close', [part]);
    }
    signal.throwIfAborted();
  }

  /** A file of that name and length, from an earlier download, is kept if it is the right one. */
  private async isHere(file: WantedFile): Promise<boolean> {
    const target = this.options.target(file);
    if ((await sizeOf(target)) !== file.bytes) return false;
    const { path: _path, bytes: _bytes, ...expected } = file;
    const wanted = expected.sha256 ?? expected.blob;
    if (wanted === undefined) return false;
    this.options.phase('verifying', 0);
    const digest = await this.options.disk.call('digest', [target, expected], this.verifying());
    this.options.signal.throwIfAborted();
    return digest === wanted;
  }

  /** True where a block came that was not there before. */
  private async fetch(index: number, plan: Plan, source: FileSource, as: 'fetching' | 'repairing'): Promise<boolean> {
    const { disk, signal, received, stored, phase, times } = this.options;
    const part = this.part(index);
    let changed = false;
    phase(as);
    await fetchFile({
      plan,
      source,
      signal,
      received,
      ...(times && { times }),
      reconnecting: (waits) => phase(waits ? 'reconnecting' : as),
      store: async (block, bytes) => {
        if (await disk.call('write', [part, block, bytes])) changed = true;
        stored(index, plan.storedBytes + plan.length(block));
      },
    });
    stored(index, plan.storedBytes);
    return changed;
  }

  private verifying(): LongWork {
    const { phase, signal } = this.options;
    return { signal, told: (fraction) => phase('verifying', fraction) };
  }

  private verify(index: number, file: WantedFile): Promise<Verdict> {
    this.options.phase('verifying', 0);
    return this.options.disk.call('verify', [this.part(index), file], this.verifying());
  }

  /** Compares and repairs: first the blocks that the disk has lost, then, by a second look, those that came wrong. */
  private async compared(index: number, file: WantedFile, plan: Plan, source: FileSource): Promise<void> {
    for (let repairs = 0; ; repairs++) {
      const verdict = await this.verify(index, file);
      this.options.signal.throwIfAborted();
      if (verdict.matches) return;
      if (verdict.damaged.length === 0 || repairs === MAX_REPAIRS) break;
      for (const block of verdict.damaged) plan.markMissing(block);
      await this.fetch(index, plan, source, 'repairing');
    }
    if (await this.secondLook(index, file, plan, source)) return;
    await this.options.disk.call('close', [this.part(index)]);
    await removePart(this.options.folder, this.options.record.id, index);
    throw verdictBad(file);
  }

  /** Everything is as it came, and it is not the hub's file: fetched again, piece by piece, until the whole is right. */
  private async secondLook(index: number, file: WantedFile, plan: Plan, source: FileSource): Promise<boolean> {
    const step = Math.ceil(plan.blocks / SECOND_LOOKS);
    for (let first = 0; first < plan.blocks; first += step) {
      for (let block = first; block < Math.min(plan.blocks, first + step); block++) plan.markMissing(block);
      const changed = await this.fetch(index, plan, source, 'repairing');
      if (changed && (await this.verify(index, file)).matches) return true;
    }
    return false;
  }

  /** A full disk is told with what is still to come, and what there is. */
  private async withSpace(thrown: unknown, plan: Plan): Promise<unknown> {
    if (!(thrown instanceof HearthError) || thrown.code !== 'disk_full') return thrown;
    const available = await freeBytes(this.options.folder).catch(() => 0);
    const { message, cause } = thrown;
    return new HearthError('disk_full', message, {
      needed: plan.missingBytes,
      available: Math.max(1, available),
      cause,
    });
  }

  private async publish(): Promise<void> {
    const { disk, record, target, signal } = this.options;
    signal.throwIfAborted();
    // A folder becomes a model with its config.json: that comes last.
    const order = [...record.files.entries()].sort(([, a], [, b]) => Number(isConfig(a)) - Number(isConfig(b)));
    for (const [index, file] of order) {
      const part = this.part(index);
      if ((await sizeOf(part)) === file.bytes) await disk.call('publish', [part, target(file)]);
    }
  }
}

const isConfig = ({ path }: WantedFile) => path.endsWith('config.json');

export async function sizeOf(path: string): Promise<number | undefined> {
  const info = await stat(path).catch(() => undefined);
  return info?.isFile() ? info.size : undefined;
}

/** Of the disk that holds the folder, or will. */
export async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw diskError(error);
    return freeBytes(dirname(folder));
  }
}

/** Pure. Throws HearthError{disk_full}. */
export function checkRoom(needed: number, available: number): void {
  if (needed <= available) return;
  throw new HearthError('disk_full', 'The models folder has not enough room for this file.', {
    needed,
    available: Math.max(1, available),
  });
}

export const inFolder = (folder: string, repo: string, path: string): string =>
  join(folder, ...repo.split('/'), ...path.split('/'));
