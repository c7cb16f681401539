// Only one process writes into the downloads of a models folder. A lock whose process is gone, or has not stirred for a minute, is none.
import { mkdir, readFile, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
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

async function isHeld(path: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(path, 'utf8'));
    return pid !== process.pid && isAlive(pid) && Date.now() - (await stat(path)).mtimeMs < STALE_MS;
  } catch {
    return false;
  }
}

export class FolderLock {
  private timer: NodeJS.Timeout | undefined;
  private taking: Promise<boolean> | undefined;

  constructor(private readonly path: string) {}

  get held(): boolean {
    return this.timer !== undefined;
  }

  /** False where another process has it. Two who ask at once are one. */
  take(): Promise<boolean> {
    if (this.held) return Promise.resolve(true);
    this.taking ??= this.takeNow().finally(() => (this.taking = undefined));
    return this.taking;
  }

  private async takeNow(): Promise<boolean> {
    try {
      if (await isHeld(this.path)) return false;
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      await rm(this.path, { force: true });
      await writeFile(this.path, String(process.pid), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
    this.timer = setInterval(() => void this.stir(), STIR_MS).unref();
    return true;
  }

  private async stir(): Promise<void> {
    const now = new Date();
    // Where the disk was unplugged, there is nothing to hold.
    await utimes(this.path, now, now).catch(() => undefined);
  }

  async release(): Promise<void> {
    await this.taking?.catch(() => undefined);
    if (!this.held) return;
    clearInterval(this.timer);
    this.timer = undefined;
    await rm(this.path, { force: true }).catch(() => undefined);
    // Where nothing is left to go on with, nothing is left at all.
    await rmdir(dirname(this.path)).catch(() => undefined);
  }
}
