// Only one process writes into the downloads of a models folder. A lock whose process is gone, or has not stirred for a minute, is none.
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const STIR_MS = 10_000;
const STALE_MS = 60_000;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isHeld(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return pid !== process.pid && isAlive(pid) && Date.now() - statSync(path).mtimeMs < STALE_MS;
  } catch {
    return false;
  }
}

export class FolderLock {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly path: string) {}

  get held(): boolean {
    return this.timer !== undefined;
  }

  /** False where another process has it. */
  take(): boolean {
    if (this.held) return true;
    try {
      if (isHeld(this.path)) return false;
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      rmSync(this.path, { force: true });
      writeFileSync(this.path, String(process.pid), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
    this.timer = setInterval(() => this.stir(), STIR_MS).unref();
    return true;
  }

  private stir(): void {
    try {
      utimesSync(this.path, new Date(), new Date());
    } catch {
      // The disk was unplugged; there is nothing to hold.
    }
  }

  release(): void {
    if (!this.held) return;
    clearInterval(this.timer);
    this.timer = undefined;
    rmSync(this.path, { force: true });
    try {
      // Where nothing is left to go on with, nothing is left at all.
      rmdirSync(dirname(this.path));
    } catch {
      // It is not empty.
    }
  }
}
