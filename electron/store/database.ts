// The whole store as synchronous calls on one connection. It runs in the worker thread; main never makes one.
import { settings as settingsSchema, type Settings } from '../contract/own';
import { Chats } from './chats';
import { expertUsesCalls } from './expert-uses';
import { matrixCalls } from './matrix';
import { schemaVersion, type Db } from './migrate';
import { remoteEngineCalls } from './remote-engines';
import { fromJson } from './rows';
import { Models } from './models';
import { transaction } from './transaction';
import type { ApiKey, Measurement, MessageDelta, StoreCalls } from './types';

interface KeyRow {
  id: string;
  name: string;
  hint: string;
  created_at: number;
  last_used_at: number | null;
}

interface MeasurementRow {
  at: number;
  kind: string;
  subject: string;
  values: string;
}

export interface Calls extends StoreCalls {
  append(messageId: string, delta: MessageDelta): void;
  /** For the first opening: nobody writes those answers any more. */
  markInterrupted(): void;
}

/** One write of the time of use a minute is enough. */
const USE_STEP_MS = 60_000;

export function readSettings(db: Db): Settings {
  const rows = db.prepare('SELECT key, value FROM settings').all() as { key: string; value: string }[];
  const stored: Record<string, unknown> = Object.fromEntries(rows.map(({ key, value }) => [key, fromJson(value)]));
  // One by one: a value that this version does not know costs that value and not all of them.
  const known = Object.entries(settingsSchema.shape).flatMap(([key, schema]) => {
    const parsed = schema.safeParse(stored[key]);
    return parsed.success && stored[key] !== undefined ? [[key, parsed.data] as const] : [];
  });
  return settingsSchema.parse(Object.fromEntries(known));
}

function writeSettings(db: Db, patch: Partial<Settings>): Settings {
  const next = settingsSchema.parse({ ...readSettings(db), ...patch });
  const put = db.prepare(
    'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  transaction(db, () => {
    for (const key of Object.keys(patch)) put.run(key, JSON.stringify(next[key as keyof Settings] ?? null));
  });
  return readSettings(db);
}

function checkKey(db: Db, hash: string | undefined, at: number): { any: boolean; id?: string } {
  const any = db.prepare('SELECT 1 FROM keys LIMIT 1').get() !== undefined;
  if (!any || hash === undefined) return { any };
  const row = db.prepare('SELECT id, last_used_at FROM keys WHERE hash = ?').get(hash) as KeyRow | undefined;
  if (!row) return { any };
  if (at - (row.last_used_at ?? 0) > USE_STEP_MS)
    db.prepare('UPDATE keys SET last_used_at = ? WHERE id = ?').run(at, row.id);
  return { any, id: row.id };
}

function listKeys(db: Db): ApiKey[] {
  const rows = db.prepare('SELECT * FROM keys ORDER BY created_at, id').all() as KeyRow[];
  return rows.map(({ id, name, hint, created_at, last_used_at }) => ({
    id,
    name,
    hint,
    createdAt: created_at,
    lastUsedAt: last_used_at,
  }));
}

function listMeasurements(db: Db, kind: string, subject?: string): Measurement[] {
  const rows = db
    .prepare(
      'SELECT * FROM measurements WHERE kind = ? AND subject = coalesce(?, subject) ORDER BY at DESC, id DESC LIMIT 1000',
    )
    .all(kind, subject ?? null) as MeasurementRow[];
  return rows.map((row) => ({ ...row, values: fromJson<Record<string, unknown>>(row.values) ?? {} }));
}

export function createCalls(db: Db): Calls {
  const chats = new Chats(db);
  const models = new Models(db);
  return {
    settings: () => readSettings(db),
    patchSettings: (patch) => writeSettings(db, patch),
    listChats: (filter) => chats.list(filter),
    createChat: (chat) => chats.create(chat),
    getChat: (id) => chats.get(id),
    patchChat: (id, patch) => chats.patch(id, patch),
    messages: (chatId) => chats.messages(chatId),
    trashChat: (id, at) => chats.trash(id, at),
    restoreChat: (id) => chats.restore(id),
    purgeChats: (before) => chats.purge(before),
    beginTurn: (turn) => chats.beginTurn(turn),
    finishMessage: (message) => chats.finish(message),
    markInterrupted: () => void chats.markInterrupted(),
    append: (messageId, delta) => chats.append(messageId, delta),
    addKey: (key) => {
      db.prepare('INSERT INTO keys (id, name, hash, hint, created_at) VALUES (?, ?, ?, ?, ?)').run(
        key.id,
        key.name,
        key.hash,
        key.hint,
        key.createdAt,
      );
    },
    listKeys: () => listKeys(db),
    removeKey: (id) => db.prepare('DELETE FROM keys WHERE id = ?').run(id).changes > 0,
    checkKey: (hash, at) => checkKey(db, hash, at),
    addMeasurement: ({ at, kind, subject, values }) => {
      db.prepare('INSERT INTO measurements (at, kind, subject, "values") VALUES (?, ?, ?, ?)').run(
        at,
        kind,
        subject,
        JSON.stringify(values),
      );
    },
    measurements: (kind, subject) => listMeasurements(db, kind, subject),
    ...matrixCalls(db),
    ...remoteEngineCalls(db),
    libraryMemory: () => models.all(),
    saveModels: (known) => models.save(known),
    saveHashes: (hashes) => models.saveHashes(hashes),
    forgetModels: (paths) => models.forget(paths),
    saveUse: (use) => models.saveUse(use),
    ...expertUsesCalls(db),
    version: () => schemaVersion(db),
  };
}
