// Opens the file of the database and brings it to the newest schema. Before a migration it writes a copy that can be put back; a
// damaged file is kept aside and never overwritten; a file of a newer Hearth is left alone.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { HearthError } from '../contract/errors';
import { isDamage, storeError } from './errors';
import { MIGRATIONS } from './schema';
import { transaction } from './transaction';

export type Db = InstanceType<typeof DatabaseSync>;

/** Larger files are checked whole only after a crash, so that a start stays quick. */
const ALWAYS_CHECKED_BYTES = 64 * 1024 * 1024;

function stamp(now: Date): string {
  return now.toISOString().replace(/[-:]/g, '').replace(/\..*/, '');
}

const PRAGMAS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;';

/**
 * Writes the journal into the file and removes it: what is left is one file that can be copied or put back. (Closing alone
 * leaves it while prepared statements wait for the garbage collector.)
 */
export function closeDatabase(db: Db): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;');
  } catch {
    // A disk that is full or gone: the journal stays, and the next start reads it.
  }
  db.close();
}

function check(db: Db): void {
  const row = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (row.quick_check !== 'ok') throw new Error(`database disk image is malformed: ${row.quick_check}`);
}

export function schemaVersion(db: Db): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** Copies the database as it is to `path.vN-TIME.bak` and gives that name. A whole database: renaming it back restores it. */
function backUp(db: Db, path: string, version: number, now: Date): string {
  const target = `${path}.v${version}-${stamp(now)}.bak`;
  rmSync(target, { force: true });
  db.prepare('VACUUM INTO ?').run(target);
  return target;
}

function refuseNewer(db: Db, known: number): void {
  const version = schemaVersion(db);
  if (version <= known) return;
  const words = `The chat database was written by a newer Hearth (schema ${version}, this one knows ${known}).`;
  throw new HearthError('database_error', words);
}

function migrate(db: Db, path: string, migrations: readonly string[], now: Date): void {
  const from = schemaVersion(db);
  if (from === migrations.length) return;
  if (from > 0) backUp(db, path, from, now);
  for (let version = from; version < migrations.length; version++) {
    transaction(db, () => {
      db.exec(migrations[version] ?? '');
      db.exec(`PRAGMA user_version = ${version + 1}`);
    });
  }
}

/** Moves a damaged database and its journal away and gives its new name. */
function keepAside(path: string, now: Date): string {
  const aside = `${path}.damaged-${stamp(now)}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  return aside;
}

/** Throws `database_error`; where the file is damaged, after keeping it aside, so that the next start begins with an empty one. */
export function openDatabase(path: string, migrations: readonly string[] = MIGRATIONS, now = new Date()): Db {
  const crashed = existsSync(`${path}-wal`);
  let db: Db | undefined;
  try {
    db = new DatabaseSync(path);
    db.exec('PRAGMA busy_timeout = 5000');
    if (crashed || statSync(path).size <= ALWAYS_CHECKED_BYTES) check(db);
    refuseNewer(db, migrations.length);
    // Only now: the journal mode is written into the file, and a damaged one is kept as it was found.
    db.exec(PRAGMAS);
    migrate(db, path, migrations, now);
    return db;
  } catch (error) {
    db?.close();
    if (!isDamage(error)) throw storeError(error);
    const aside = keepAside(path, now);
    const words = `The chat database is damaged and was kept as ${aside}. The next start begins with an empty one.`;
    throw new HearthError('database_error', words, { cause: error });
  }
}
