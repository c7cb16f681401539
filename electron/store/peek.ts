// A look into a database that another Hearth may have open: read only, synchronous, for commands that do one thing and end. It changes
// nothing, and gives nothing where there is nothing to read.
import { existsSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Settings } from '../contract/own';
import { readSettings } from './database';
import { Models } from './models';
import type { LibraryMemory } from './types';

export interface Peek {
  settings: Settings;
  memory: LibraryMemory;
}

export function peek(path: string): Peek | undefined {
  if (!existsSync(path)) return undefined;
  let db: InstanceType<typeof DatabaseSync> | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    return { settings: readSettings(db), memory: new Models(db).all() };
  } catch {
    // Of an older schema, damaged, or gone: the app itself says so.
    return undefined;
  } finally {
    db?.close();
  }
}
