// What the library remembers over a restart: headers that were read, hashes, use. Synchronous calls, made in the worker thread alone.
import { errorShape } from '../contract/errors';
import { abilities, modelInfo } from '../contract/runtime';
import type { Db } from './migrate';
import { fromJson, toJson } from './rows';
import { transaction } from './transaction';
import type { FileHash, KnownModel, LibraryMemory, ModelUse } from './types';

interface ModelRow {
  path: string;
  print: string;
  info: string | null;
  abilities: string | null;
  error: string | null;
}

interface HashRow {
  path: string;
  size: number;
  mtime_ms: number;
  sha256: string | null;
  expected: string | null;
}

interface UseRow {
  model_id: string;
  last_used_at: number;
  decode_tps: number | null;
}

export class Models {
  constructor(private readonly db: Db) {}

  all(): LibraryMemory {
    const models = this.db.prepare('SELECT * FROM models').all() as ModelRow[];
    const hashes = this.db.prepare('SELECT * FROM file_hashes').all() as HashRow[];
    const uses = this.db.prepare('SELECT * FROM model_uses').all() as UseRow[];
    return { models: models.flatMap(toKnown), hashes: hashes.map(toHash), uses: uses.map(toUse) };
  }

  save(known: KnownModel[]): void {
    const put = this.db.prepare(
      'INSERT OR REPLACE INTO models (path, print, info, abilities, error) VALUES (?, ?, ?, ?, ?)',
    );
    transaction(this.db, () => {
      for (const { path, print, info, abilities: can, error } of known)
        put.run(path, print, toJson(info), toJson(can), toJson(error));
    });
  }

  saveHashes(hashes: FileHash[]): void {
    const put = this.db.prepare(
      'INSERT OR REPLACE INTO file_hashes (path, size, mtime_ms, sha256, expected) VALUES (?, ?, ?, ?, ?)',
    );
    transaction(this.db, () => {
      for (const { path, size, mtimeMs, sha256, expected } of hashes)
        put.run(path, size, mtimeMs, sha256 ?? null, expected ?? null);
    });
  }

  forget(paths: string[]): void {
    const model = this.db.prepare('DELETE FROM models WHERE path = ?');
    const hash = this.db.prepare('DELETE FROM file_hashes WHERE path = ?');
    transaction(this.db, () => {
      for (const path of paths) {
        model.run(path);
        hash.run(path);
      }
    });
  }

  saveUse({ modelId, lastUsedAt, decodeTps }: ModelUse): void {
    this.db
      .prepare('INSERT OR REPLACE INTO model_uses (model_id, last_used_at, decode_tps) VALUES (?, ?, ?)')
      .run(modelId, lastUsedAt, decodeTps ?? null);
  }
}

/** A row that this version does not understand is as if it were not there: the file is looked at again. */
function toKnown(row: ModelRow): KnownModel[] {
  const info = modelInfo.optional().safeParse(fromJson(row.info) ?? undefined);
  const can = abilities.optional().safeParse(fromJson(row.abilities) ?? undefined);
  const error = errorShape.optional().safeParse(fromJson(row.error) ?? undefined);
  if (!info.success || !can.success || !error.success) return [];
  return [
    {
      path: row.path,
      print: row.print,
      ...(info.data && { info: info.data }),
      ...(can.data && { abilities: can.data }),
      ...(error.data && { error: error.data }),
    },
  ];
}

const toHash = ({ path, size, mtime_ms, sha256, expected }: HashRow): FileHash => ({
  path,
  size,
  mtimeMs: mtime_ms,
  ...(sha256 !== null && { sha256 }),
  ...(expected !== null && { expected }),
});

const toUse = ({ model_id, last_used_at, decode_tps }: UseRow): ModelUse => ({
  modelId: model_id,
  lastUsedAt: last_used_at,
  ...(decode_tps !== null && { decodeTps: decode_tps }),
});
