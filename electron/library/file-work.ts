// Reading whole files: hashing one, and copying one so that the copy is known to be right. It runs in a thread of its own (file-worker.ts)
// and keeps no state; a file is read in pieces with `step` between them, which may wait (a pause) or throw (a cancel).
import { createHash } from 'node:crypto';
import { open, rename, rm, utimes, type FileHandle } from 'node:fs/promises';
import { HearthError } from '../contract/errors';

const PIECE = 4 * 1024 * 1024;

/** Told how many bytes came since the last call. */
export type Step = (bytes: number) => Promise<void> | void;

async function eachPiece(file: FileHandle, use: (piece: Buffer) => Promise<void> | void, step: Step): Promise<void> {
  const buffer = Buffer.allocUnsafe(PIECE);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, PIECE, null);
    if (bytesRead === 0) return;
    await use(buffer.subarray(0, bytesRead));
    await step(bytesRead);
  }
}

/** SHA-256 of the content, in hex. Throws HearthError{disk_error}. */
export async function hashFile(path: string, step: Step): Promise<string> {
  const hash = createHash('sha256');
  await onDisk(path, async () => {
    const file = await open(path, 'r');
    try {
      await eachPiece(file, (piece) => void hash.update(piece), step);
    } finally {
      await file.close();
    }
  });
  return hash.digest('hex');
}

async function writeAll(file: FileHandle, piece: Buffer): Promise<void> {
  for (let at = 0; at < piece.length;) at += (await file.write(piece, at)).bytesWritten;
}

/**
 * Copies, reads the copy again, and gives the hash of both. The copy gets its name only then; until then it is `to` with an ending of
 * its own. Throws HearthError{disk_full | disk_error}, with nothing left at `to`.
 */
export async function copyVerified(from: string, to: string, step: { copied: Step; verified: Step }): Promise<string> {
  const part = `${to}.hearth-part`;
  try {
    const written = await onDisk(to, () => copyTo(from, part, step.copied));
    const read = await hashFile(part, step.verified);
    if (read !== written) throw new HearthError('disk_error', `The copy at ${to} is not the same as the original.`);
    await onDisk(to, () => rename(part, to));
    return read;
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function copyTo(from: string, part: string, step: Step): Promise<string> {
  const hash = createHash('sha256');
  const source = await open(from, 'r');
  try {
    const info = await source.stat();
    await rm(part, { force: true });
    const target = await open(part, 'wx', info.mode & 0o777);
    try {
      const use = async (piece: Buffer) => {
        hash.update(piece);
        await writeAll(target, piece);
      };
      await eachPiece(source, use, step);
      await target.sync();
    } finally {
      await target.close();
    }
    await utimes(part, info.atimeMs / 1000, info.mtimeMs / 1000);
  } finally {
    await source.close();
  }
  return hash.digest('hex');
}

/** The system's failures in Hearth's words. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HearthError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new HearthError('disk_full', `There is no space left for ${path}.`, { cause: error });
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new HearthError('disk_error', `${path} could not be read or written: ${why}`, { cause: error });
  }
}
