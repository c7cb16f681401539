// Which connections ever left this machine, and what for. Alike ones in a row are told as one; the list is bounded and kept in one file.
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { connection, type Connection } from '../../contract/models';

/** Entries that are kept: with an hour to an entry, years of use. */
const MAX_ENTRIES = 5000;
const MERGE_MS = 3_600_000;
/** How many of the newest are looked at for one to add to: several downloads may take turns. */
const LOOK_BACK = 16;
const SAVE_MS = 1000;

export interface Ledger {
  add(entry: Omit<Connection, 'at' | 'count'>): void;
  /** Newest first. */
  list(): Connection[];
  close(): Promise<void>;
}

/** Pure: the list with one more connection in it, newest first. */
export function withConnection(list: readonly Connection[], added: Omit<Connection, 'count'>): Connection[] {
  const same = (one: Connection) =>
    one.host === added.host &&
    one.purpose === added.purpose &&
    one.detail === added.detail &&
    one.outcome === added.outcome &&
    added.at - one.at < MERGE_MS;
  const index = list.slice(0, LOOK_BACK).findIndex(same);
  const before = list[index];
  if (!before) return [{ ...added, count: 1 }, ...list].slice(0, MAX_ENTRIES);
  const merged = { ...before, at: added.at, count: before.count + 1, bytes: before.bytes + added.bytes };
  return [merged, ...list.slice(0, index), ...list.slice(index + 1)];
}

function read(path: string): Connection[] {
  try {
    return z.array(connection).parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return [];
  }
}

/** Without a path nothing outlives the process. */
export function openLedger(path?: string, now: () => number = Date.now): Ledger {
  let list = path === undefined ? [] : read(path);
  let saving: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const save = () => {
    saving = undefined;
    if (path === undefined) return;
    const content = JSON.stringify(list);
    writing = writing
      .then(() => writeFile(`${path}.new`, content, { mode: 0o600 }))
      .then(() => rename(`${path}.new`, path))
      // The disk may be full; the list goes on in memory.
      .catch(() => undefined);
  };
  return {
    add: (entry) => {
      list = withConnection(list, { ...entry, at: now() });
      saving ??= setTimeout(save, SAVE_MS).unref();
    },
    list: () => list,
    close: async () => {
      if (saving) {
        clearTimeout(saving);
        save();
      }
      await writing;
    },
  };
}
