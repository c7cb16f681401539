// A file on its way, and its journal: blocks are written, hashed and noted; at the end the whole is read back and compared. It lives in
// the worker thread and may wait for the disk. It knows no network, and gives a file its final name only when it is told to.
import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { HearthError } from '../../contract/errors';
import { journalHead, journalRecord, readJournal } from './journal';
import { blockBytesOf } from './plan';

/** What the whole is compared with: the hub's SHA-256, or git's hash of a small file. */
export interface Expected {
  sha256?: string;
  blob?: string;
}

/** Bytes after which what was written is forced to the disk: no more than that is lost with the power. */
const SYNC_BYTES = 64 * 1024 ** 2;
const READ_BYTES = 4 * 1024 ** 2;
/** Created where it is not there, never emptied. */
const OPEN = constants.O_RDWR | constants.O_CREAT;

/** For tests: what the disk does. */
export interface DiskWriter {
  write(fd: number, bytes: Uint8Array, position: number): void;
  /** Forces what was written to the disk, and tells when that is done or has failed. */
  sync(fd: number, done: (error: Error | null) => void): void;
}

export const realDisk: DiskWriter = {
  write: (fd, bytes, position) => {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(fd, bytes, done, bytes.length - done, position + done);
    }
  },
  sync: fdatasync,
};

export function hashFor({ sha256, blob }: Expected, size: number): { hash: Hash; wanted: string | undefined } {
  if (sha256 !== undefined || blob === undefined) return { hash: createHash('sha256'), wanted: sha256 };
  return { hash: createHash('sha1').update(`blob ${size}\0`), wanted: blob };
}

export interface Verdict {
  matches: boolean;
  /** SHA-256 or git's, as was asked for. */
  digest: string;
  /** Blocks that are not what was stored. */
  damaged: number[];
}

export class PartFile {
  readonly blockBytes: number;
  private readonly data: number;
  private readonly journal: number;
  private readonly hashes: Map<number, Buffer>;
  private journalBytes: number;
  private unsynced = 0;
  private syncing = false;
  private closed = false;
  /** Of a sync that nobody waited for: the next write tells it. */
  private failure: Error | undefined;

  /** Opens what is there, or begins. */
  constructor(
    private readonly path: string,
    readonly size: number,
    private readonly disk: DiskWriter = realDisk,
  ) {
    this.blockBytes = blockBytesOf(size);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.data = openSync(path, OPEN, 0o600);
    this.journal = openSync(`${path}.journal`, OPEN, 0o600);
    const known = readJournal(readFileSync(this.journal), size, this.blockBytes);
    this.hashes = known?.hashes ?? new Map();
    this.journalBytes = known?.bytes ?? 0;
    ftruncateSync(this.journal, this.journalBytes);
    if (!known) {
      ftruncateSync(this.data, 0);
      this.append(journalHead(size, this.blockBytes));
    }
    ftruncateSync(this.data, size);
  }

  stored(): number[] {
    return [...this.hashes.keys()];
  }

  private append(bytes: Uint8Array): void {
    this.disk.write(this.journal, bytes, this.journalBytes);
    this.journalBytes += bytes.length;
  }

  /** True where the block is another one than was stored before, or was not there. */
  write(index: number, bytes: Uint8Array): boolean {
    if (this.failure) throw this.failure;
    const hash = createHash('sha256').update(bytes).digest();
    if (this.hashes.get(index)?.equals(hash) && this.readBlock(index).equals(bytes)) return false;
    this.disk.write(this.data, bytes, index * this.blockBytes);
    this.append(journalRecord(index, hash));
    this.hashes.set(index, hash);
    this.unsynced += bytes.length;
    if (this.unsynced >= SYNC_BYTES) this.syncBehind();
    return true;
  }

  private readBlock(index: number): Buffer {
    const start = index * this.blockBytes;
    const bytes = Buffer.alloc(Math.min(this.blockBytes, this.size - start));
    return bytes.subarray(0, readSync(this.data, bytes, 0, bytes.length, start));
  }

  /** One at a time, while blocks go on being written: those that waited would pile up in the sockets, where a kill loses them. */
  private syncBehind(): void {
    if (this.syncing) return;
    this.syncing = true;
    this.unsynced = 0;
    this.disk.sync(this.data, (failed) => {
      if (this.closed) return;
      this.disk.sync(this.journal, (alsoFailed) => {
        this.syncing = false;
        this.failure ??= failed ?? alsoFailed ?? undefined;
      });
    });
  }

  /** Reads all of it, and a second time, block by block, where the whole is not what it should be. `told` gets the fraction. */
  async verify(expected: Expected, told: (fraction: number) => void): Promise<Verdict> {
    const { hash, wanted } = hashFor(expected, this.size);
    await this.eachBlock(told, (bytes) => void hash.update(bytes));
    const digest = hash.digest('hex');
    if (digest === wanted) return { matches: true, digest, damaged: [] };
    const damaged: number[] = [];
    await this.eachBlock(told, (bytes, index) => {
      if (!this.hashes.get(index)?.equals(createHash('sha256').update(bytes).digest())) damaged.push(index);
    });
    return { matches: wanted === undefined && damaged.length === 0, digest, damaged };
  }

  /** Yields now and then, so that other work gets its turn. */
  private async eachBlock(
    told: (fraction: number) => void,
    use: (bytes: Buffer, index: number) => void,
  ): Promise<void> {
    const blocks = Math.ceil(this.size / this.blockBytes);
    const atOnce = Math.max(1, READ_BYTES / this.blockBytes);
    for (let index = 0; index < blocks; index++) {
      use(this.readBlock(index), index);
      if (index % atOnce !== 0) continue;
      told(index / blocks);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Closes it; what is there stays. */
  close(): void {
    this.closed = true;
    try {
      fdatasyncSync(this.data);
      fdatasyncSync(this.journal);
    } catch {
      // A full or vanished disk; what is missing is noticed when it is opened again.
    }
    closeSync(this.data);
    closeSync(this.journal);
  }
}

/** Bytes of which a journal knows, without opening the part. */
export function storedBytes(path: string, size: number): number {
  try {
    const known = readJournal(readFileSync(`${path}.journal`), size, blockBytesOf(size));
    const blockBytes = blockBytesOf(size);
    let bytes = 0;
    for (const index of known?.hashes.keys() ?? []) bytes += Math.min(blockBytes, size - index * blockBytes);
    return bytes;
  } catch {
    return 0;
  }
}

/** Gives the verified part its final name, in one step, and forces both to the disk. */
export function publish(part: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  renameSync(part, target);
  syncFolder(dirname(target));
}

function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // Not every system lets a folder be synced.
  }
}

/** The hash of a file that is here already. */
export async function digestOf(path: string, expected: Expected, told: (fraction: number) => void): Promise<string> {
  const fd = openSync(path, 'r');
  try {
    const size = fstatSync(fd).size;
    const { hash } = hashFor(expected, size);
    const bytes = Buffer.alloc(READ_BYTES);
    for (let at = 0; at < size;) {
      const read = readSync(fd, bytes, 0, bytes.length, at);
      if (read === 0) throw new HearthError('bad_file', `${path} became shorter while it was read.`);
      hash.update(bytes.subarray(0, read));
      at += read;
      told(at / size);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
}
