// Engines elsewhere, as the user added them. Their keys must be sent and so are kept as they are, in a folder that only this user
// can read; they leave the store for the client of the engine alone.
import { HearthError } from '../contract/errors';
import type { Db } from './migrate';
import type { StoreCalls, StoredEngine } from './types';

interface EngineRow {
  id: string;
  name: string;
  url: string;
  key: string | null;
  created_at: number;
}

function toEngine({ id, name, url, key, created_at }: EngineRow): StoredEngine {
  return { id, name, url, createdAt: created_at, ...(key !== null && { key }) };
}

export function remoteEngineCalls(
  db: Db,
): Pick<StoreCalls, 'addRemoteEngine' | 'remoteEngines' | 'removeRemoteEngine'> {
  return {
    addRemoteEngine: ({ id, name, url, key, createdAt }) => {
      if (db.prepare('SELECT 1 FROM remote_engines WHERE name = ?').get(name) !== undefined)
        throw new HearthError('invalid_request', `There is an engine called ${name} already.`, { param: 'name' });
      db.prepare('INSERT INTO remote_engines (id, name, url, key, created_at) VALUES (?, ?, ?, ?, ?)').run(
        id,
        name,
        url,
        key ?? null,
        createdAt,
      );
    },
    remoteEngines: () =>
      (db.prepare('SELECT * FROM remote_engines ORDER BY created_at, id').all() as EngineRow[]).map(toEngine),
    removeRemoteEngine: (id) => db.prepare('DELETE FROM remote_engines WHERE id = ?').run(id).changes > 0,
  };
}
