// Moves the file of the database: a verified copy, then the switch, then the old file goes. Synchronous, in the worker thread, between two
// calls: whoever asks meanwhile waits. Until the switch is written the old file is the database, and afterwards the new one is.
import { createHash } from 'node:crypto';
import { closeSync, copyFileSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { HearthError } from '../contract/errors';

/** A file that says where the database is; writing it is the switch. */
export interface Switch {
  path: string;
  text: string;
}

const PIECE = 4 * 1024 * 1024;

function hashOf(path: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(PIECE);
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer))
      hash.update(buffer.subarray(0, read));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

/** `from` is closed and has no journal. Throws HearthError{disk_full | disk_error}, with nothing changed. */
export function relocate(from: string, to: string, { path, text }: Switch): void {
  const part = `${to}.part`;
  try {
    copyFileSync(from, part);
    if (hashOf(part) !== hashOf(from)) throw new HearthError('disk_error', `The copy at ${to} is not the same.`);
    renameSync(part, to);
    const next = `${path}.next`;
    writeFileSync(next, text, { mode: 0o600, flush: true });
    renameSync(next, path);
  } catch (error) {
    for (const file of [part, to]) rmSync(file, { force: true });
    if (error instanceof HearthError) throw error;
    const full = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    const why = error instanceof Error ? error.message : String(error);
    throw new HearthError(full ? 'disk_full' : 'disk_error', `The chats could not be moved: ${why}`, { cause: error });
  }
}

export function removeOldFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The new one is the database already; a file that stays does no harm.
  }
}
