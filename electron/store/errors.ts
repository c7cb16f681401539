// SQLite's failures in Hearth's words. Codes are those of the SQLite documentation ("Result and Error Codes").
import { HearthError } from '../contract/errors';

const FULL = 13;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const READ_ONLY = 8;
const BUSY = 5;

function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { errcode, sqliteCode: code } = error as { errcode?: unknown; sqliteCode?: unknown };
  const number = typeof errcode === 'number' ? errcode : code;
  return typeof number === 'number' ? number & 0xff : undefined;
}

/** Whether the file itself is damaged, and not only the access to it. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === CORRUPT || code === NOT_A_DATABASE) return true;
  return error instanceof Error && /malformed|not a database|disk image/i.test(error.message);
}

const WORDS: Record<number, string> = {
  [FULL]: 'The disk is full: the chat database could not be written.',
  [READ_ONLY]: 'The chat database cannot be written.',
  [BUSY]: 'The chat database is in use by another program.',
  [CORRUPT]: 'The chat database is damaged.',
  [NOT_A_DATABASE]: 'The chat database is damaged.',
};

export function storeError(error: unknown): HearthError {
  if (error instanceof HearthError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  const words = WORDS[sqliteCode(error) ?? -1] ?? 'The chat database failed.';
  return new HearthError('database_error', `${words} (${detail})`, { cause: error });
}
