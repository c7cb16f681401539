// Hashes the content of files in the background: one at a time, only while nothing is being generated or loaded, with progress.
// It does not know what a hash is for.
import type { FoundFile } from './walk';

/** How often it looks whether something more important is going on. */
const LOOK_MS = 500;

export interface HashingOptions {
  hash(path: string, onBytes: (bytes: number) => void, signal: AbortSignal): Promise<string>;
  /** Holds the work up, in the middle of a file too. */
  pause(paused: boolean): void;
  busy(): boolean;
  done(file: FoundFile, sha256: string): void;
  /** Told when there is news to show, at most once a second. */
  changed(): void;
  /** Left alone for so long after it was first wanted. */
  restMs: number;
}

const keyOf = ({ path, size, mtimeMs }: FoundFile) => `${size} ${mtimeMs} ${path}`;

export class Hashing {
  private wanted: FoundFile[] = [];
  private readonly failed = new Set<string>();
  private current: { file: FoundFile; bytes: number; controller: AbortController } | undefined;
  private running = false;
  private told = 0;
  private closed = false;

  constructor(private readonly options: HashingOptions) {}

  /** Replaces what is wanted. A file that is being hashed and no longer wanted is given up. */
  want(files: FoundFile[]): void {
    this.wanted = files;
    const { current } = this;
    if (current && !files.some((file) => keyOf(file) === keyOf(current.file))) current.controller.abort();
    if (!this.running && files.length > 0 && !this.closed) void this.work();
  }

  /** Bytes of this file that have been read; undefined while it waits. */
  bytes(file: FoundFile): number | undefined {
    return this.current && keyOf(this.current.file) === keyOf(file) ? this.current.bytes : undefined;
  }

  /** Could not be read; it is not tried again until it changes. */
  hasFailed(file: FoundFile): boolean {
    return this.failed.has(keyOf(file));
  }

  close(): void {
    this.closed = true;
    this.wanted = [];
    this.current?.controller.abort();
  }

  private next(): FoundFile | undefined {
    return this.closed ? undefined : this.wanted.find((file) => !this.hasFailed(file));
  }

  private async work(): Promise<void> {
    this.running = true;
    await sleep(this.options.restMs);
    const look = setInterval(() => this.options.pause(this.options.busy()), LOOK_MS);
    look.unref();
    for (let file = this.next(); file; file = this.next()) {
      if (this.options.busy()) await sleep(LOOK_MS);
      else await this.hashNow(file);
    }
    clearInterval(look);
    this.options.pause(false);
    this.running = false;
  }

  private async hashNow(file: FoundFile): Promise<void> {
    const controller = new AbortController();
    this.current = { file, bytes: 0, controller };
    try {
      const sha256 = await this.options.hash(file.real, (bytes) => this.progress(bytes), controller.signal);
      this.wanted = this.wanted.filter((other) => keyOf(other) !== keyOf(file));
      this.options.done(file, sha256);
    } catch {
      if (!controller.signal.aborted) this.failed.add(keyOf(file));
    }
    this.current = undefined;
    this.options.changed();
  }

  private progress(bytes: number): void {
    if (this.current) this.current.bytes = bytes;
    const now = performance.now();
    if (now - this.told < 1000) return;
    this.told = now;
    this.options.changed();
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
