// Moves the file of the database: a verified copy, then the switch, then the old file goes. Synchronous, in the worker thread, between two
// calls: whoever asks meanwhile waits. Until the switch is written the old file is the database, and afterwards the new one is.
import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { HearthError } from '../contract/errors';

/** A file that says where the database is; writing it is the switch. */
export interface Switch {
  path: string;
  text: string;
}

const PIECE = 4 * 1024 * 1024;

/** Told after each piece, of what has been done: the copy is one half, its comparison the other. */
export type Told = (phase: 'copying' | 'verifying', bytes: number) => void;

function pieces(path: string, use: (piece: Buffer) => void): void {
  const buffer = Buffer.allocUnsafe(PIECE);
  const file = openSync(path, 'r');
  try {
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) use(buffer.subarray(0, read));
  } finally {
    closeSync(file);
  }
}

/** Gives the hash of what was read, and so should have been written. */
function copied(from: string, to: string, told: (bytes: number) => void): string {
  const hash = createHash('sha256');
  const file = openSync(to, 'w', 0o600);
  let done = 0;
  try {
    pieces(from, (piece) => {
      hash.update(piece);
      for (let at = 0; at < piece.length;) at += writeSync(file, piece, at);
      told((done += piece.length));
    });
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

function hashOf(path: string, told: (bytes: number) => void): string {
  const hash = createHash('sha256');
  let done = 0;
  pieces(path, (piece) => {
    hash.update(piece);
    told((done += piece.length));
  });
  return hash.digest('hex');
}

function sizeOf(path: string): number {
  const file = openSync(path, 'r');
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

/** `from` is closed and has no journal. Throws HearthError{disk_full | disk_error}, with nothing changed. */
export function relocate(from: string, to: string, { path, text }: Switch, told: Told = () => undefined): void {
  const part = `${to}.part`;
  try {
    const half = sizeOf(from) / 2;
    const hash = copied(from, part, (bytes) => told('copying', bytes / 2));
    if (hashOf(part, (bytes) => told('verifying', half + bytes / 2)) !== hash)
      throw new HearthError('disk_error', `The copy at ${to} is not the same.`);
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
