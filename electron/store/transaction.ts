// All or nothing for a group of writes.
import type { Db } from './migrate';

export function transaction<T>(db: Db, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has already rolled back after a full disk: a second error would hide the first.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
