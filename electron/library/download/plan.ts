// Which bytes of a file are here and who fetches which of the others. Files are cut into blocks, each hashed as it is stored; a connection
// is given a run of blocks. Pure bookkeeping: no disk, no network.

const MIN_BLOCK = 64 * 1024;
const MAX_BLOCK = 4 * 1024 ** 2;
/** About so many blocks make a file: what a kill loses is a fraction of that, and the journal stays below 2 MB. */
const BLOCKS_PER_FILE = 32_768;

/** A power of two that depends on the size alone. */
export function blockBytesOf(size: number): number {
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, size / BLOCKS_PER_FILE)));
  return Math.min(MAX_BLOCK, Math.max(MIN_BLOCK, wanted));
}

/** At least, where nobody asks for shorter ones. */
const MIN_RUN_BYTES = 4 * 1024 ** 2;
const MAX_RUN_BYTES = 64 * 1024 ** 2;
const BYTES_PER_CONNECTION = 16 * 1024 ** 2;
export const MAX_CONNECTIONS = 4;

/** Blocks from `next` up to `end`, which is not among them. `next` moves on as they are stored. */
export interface Run {
  next: number;
  end: number;
}

export class Plan {
  readonly blockBytes: number;
  readonly blocks: number;
  private readonly stored: Uint8Array;
  private readonly running = new Set<Run>();
  private storedCount = 0;
  /** All before it are stored. */
  private lowest = 0;

  constructor(
    readonly size: number,
    stored: Iterable<number> = [],
  ) {
    this.blockBytes = blockBytesOf(size);
    this.blocks = Math.ceil(size / this.blockBytes);
    this.stored = new Uint8Array(this.blocks);
    for (const index of stored) this.markStored(index);
  }

  start(index: number): number {
    return index * this.blockBytes;
  }

  length(index: number): number {
    return Math.min(this.blockBytes, this.size - this.start(index));
  }

  has(index: number): boolean {
    return this.stored[index] === 1;
  }

  markStored(index: number): void {
    if (index >= this.blocks || this.has(index)) return;
    this.stored[index] = 1;
    this.storedCount += 1;
    while (this.has(this.lowest)) this.lowest += 1;
  }

  markMissing(index: number): void {
    if (!this.has(index)) return;
    this.stored[index] = 0;
    this.lowest = Math.min(this.lowest, index);
    this.storedCount -= 1;
  }

  get complete(): boolean {
    return this.storedCount === this.blocks;
  }

  /** The last block may be shorter than the others. */
  get storedBytes(): number {
    const last = this.blocks - 1;
    const short = this.blocks > 0 && this.has(last) ? this.blockBytes - this.length(last) : 0;
    return this.storedCount * this.blockBytes - short;
  }

  get missingBytes(): number {
    return this.size - this.storedBytes;
  }

  /** Small files are not worth a second connection. */
  connections(): number {
    return Math.max(1, Math.min(MAX_CONNECTIONS, Math.ceil(this.missingBytes / BYTES_PER_CONNECTION)));
  }

  private taken(index: number): boolean {
    for (const run of this.running) if (index >= run.next && index < run.end) return true;
    return false;
  }

  /** Missing, and nobody is at it. */
  isFree(index: number): boolean {
    return index < this.blocks && !this.has(index) && !this.taken(index);
  }

  /** The lowest run that nobody fetches, of `mostBytes` or one block; runs grow short towards the end, so that all connections end together. */
  take(mostBytes = MAX_RUN_BYTES): Run | undefined {
    let next = this.lowest;
    while (next < this.blocks && !this.isFree(next)) next++;
    if (next === this.blocks) return undefined;
    const share = this.missingBytes / (4 * this.connections());
    const bytes = Math.min(MAX_RUN_BYTES, mostBytes, Math.max(MIN_RUN_BYTES, share));
    const most = Math.max(1, Math.ceil(bytes / this.blockBytes));
    let end = next + 1;
    while (end - next < most && this.isFree(end)) end++;
    const run = { next, end };
    this.running.add(run);
    return run;
  }

  /** One more block for a connection whose answer goes on. */
  extend(run: Run): boolean {
    if (!this.isFree(run.end)) return false;
    run.end += 1;
    return true;
  }

  release(run: Run): void {
    this.running.delete(run);
  }
}
