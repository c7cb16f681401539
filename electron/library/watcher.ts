// Says when something may have changed in the folders: by the system's own word where it can be had, and by looking from time to time.
// It waits until a burst of changes is over, but not for ever. It reads nothing itself.
import { watch, type FSWatcher } from 'node:fs';

/** Folders watched one by one, where the system has no watch on a whole tree. */
const MAX_WATCHED = 512;
const QUIET_MS = 400;
/** Where everything is watched, a look is only for what a watch misses. */
const RARE_MS = 60_000;
const OFTEN_MS = 15_000;

/** Names of what is still being fetched, by whomever: its last change is the one that gives it its name. */
const PASSING = /\.(part|incomplete|crdownload|tmp|lock|hearth-part)$|^\.|-partial(-\d+)?$/i;

export interface WatchedTree {
  root: string;
  /** Every folder in it, itself among them. */
  folders: string[];
}

export class FolderWatcher {
  private readonly open = new Map<string, FSWatcher>();
  private soon: NodeJS.Timeout | undefined;
  private regular: NodeJS.Timeout | undefined;
  private complete = false;
  private closed = false;

  constructor(
    private readonly look: () => void,
    private readonly platform: string = process.platform,
  ) {}

  /** `tookMs`: what the last look cost; the next ones keep their distance accordingly. */
  follow(trees: readonly WatchedTree[], tookMs = 0): void {
    if (this.closed) return;
    const recursive = this.platform === 'darwin' || this.platform === 'win32';
    const all = recursive ? trees.map(({ root }) => root) : trees.flatMap(({ folders }) => folders);
    const wanted = new Set(all.slice(0, MAX_WATCHED));
    for (const path of [...this.open.keys()]) if (!wanted.has(path)) this.drop(path);
    for (const path of wanted) this.add(path, recursive, tookMs);
    // A folder that is not there yet has no watch.
    this.complete = trees.every(({ folders }) => folders.length > 0) && this.open.size === all.length;
    clearTimeout(this.regular);
    this.regular = setTimeout(this.look, Math.max(this.complete ? RARE_MS : OFTEN_MS, tookMs * 20));
    this.regular.unref();
  }

  /** A look in so many milliseconds, unless one comes sooner. */
  within(ms: number): void {
    if (this.soon || this.closed) return;
    this.soon = setTimeout(() => {
      this.soon = undefined;
      this.look();
    }, ms);
    this.soon.unref();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.soon);
    clearTimeout(this.regular);
    for (const path of [...this.open.keys()]) this.drop(path);
  }

  private add(path: string, recursive: boolean, tookMs: number): void {
    if (this.open.has(path)) return;
    try {
      const watcher = watch(path, { recursive, persistent: false }, (_event, name) => {
        if (name === null || !PASSING.test(name)) this.within(Math.max(QUIET_MS, tookMs * 5));
      });
      watcher.on('error', () => this.drop(path));
      this.open.set(path, watcher);
    } catch {
      // No watch to be had there: it is looked at from time to time.
    }
  }

  private drop(path: string): void {
    this.open.get(path)?.close();
    this.open.delete(path);
  }
}
