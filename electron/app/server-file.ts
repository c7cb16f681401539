// server.json in the data directory: says where the running Hearth is, and is the lock that keeps a second one out.
// A file whose Hearth is gone is taken over; one whose Hearth lives is never touched.
import { closeSync, linkSync, openSync, readFileSync, renameSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { HearthError } from '../contract/errors';
import { serverFile, type ServerFile } from '../contract/own';
import { isAlive } from '../library/download/lock';

/** How long a Hearth may take from its lock to its address. */
const STARTING_MS = 60_000;
const ASK_MS = 2_000;

export function readServerFile(path: string): ServerFile | undefined {
  try {
    return serverFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** The Hearth that this file speaks of, if it lives. Process ids are used again, so its address is asked as well. */
export async function livingServer(path: string, now: number = Date.now()): Promise<ServerFile | undefined> {
  const file = readServerFile(path);
  if (!file || file.pid === process.pid || !isAlive(file.pid)) return undefined;
  if (file.url === '') return now - modified(path) < STARTING_MS ? file : undefined;
  return (await answers(file)) ? file : undefined;
}

export class ServerLock {
  private constructor(
    private readonly path: string,
    private readonly file: ServerFile,
  ) {}

  /** Throws HearthError{already_running}, which names the address of the other one. */
  static async take(path: string, token: string, version: string): Promise<ServerLock> {
    const file = { url: '', token, pid: process.pid, version };
    for (let attempt = 0; attempt < 5; attempt++) {
      if (create(path, file)) return new ServerLock(path, file);
      const other = await livingServer(path);
      if (other) throw alreadyRunning(other);
      setAside(path);
    }
    throw new HearthError('already_running', 'Another Hearth is starting with this data directory.');
  }

  /** Says where we are. */
  publish(url: string): ServerFile {
    this.file.url = url;
    const next = `${this.path}.${process.pid}`;
    tryUnlink(next);
    create(next, this.file);
    renameSync(next, this.path);
    return { ...this.file };
  }

  release(): void {
    if (readServerFile(this.path)?.token === this.file.token) tryUnlink(this.path);
  }
}

function alreadyRunning({ url, pid }: ServerFile): HearthError {
  const where = url === '' ? `is starting (process ${pid})` : `is already running at ${url}`;
  return new HearthError('already_running', `Hearth ${where} with this data directory.`);
}

/** False where the file is there already. */
function create(path: string, content: ServerFile): boolean {
  try {
    const fd = openSync(path, 'wx', 0o600);
    writeSync(fd, JSON.stringify(content));
    closeSync(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new HearthError('database_error', `${path} cannot be written.`, { cause: error });
  }
}

/** Removes a stale file. Two starters may do so at once: whoever has moved the other's fresh file puts it back. */
function setAside(path: string): void {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // somebody else was faster
  }
  const moved = readServerFile(aside);
  if (
    moved &&
    moved.url === '' &&
    moved.pid !== process.pid &&
    isAlive(moved.pid) &&
    Date.now() - modified(aside) < 1000
  ) {
    try {
      linkSync(aside, path);
    } catch {
      // A third one has it now.
    }
  }
  tryUnlink(aside);
}

function tryUnlink(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is not there.
  }
}

function modified(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/** Whether a Hearth answers there. A hung one counts: its data must not be opened a second time. */
async function answers(file: ServerFile): Promise<boolean> {
  try {
    const response = await fetch(new URL('/health', file.url), { signal: AbortSignal.timeout(ASK_MS) });
    const body = (await response.json()) as { version?: unknown };
    return response.ok && typeof body.version === 'string';
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError';
  }
}
