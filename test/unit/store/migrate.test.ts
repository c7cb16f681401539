// Opening a database: migrations, damaged files, newer ones.
import { existsSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCalls } from '../../../electron/store/database';
import { closeDatabase, openDatabase, schemaVersion } from '../../../electron/store/migrate';
import { openStore } from '../../../electron/store/open';
import { MIGRATIONS } from '../../../electron/store/schema';
import { sampleChat, sampleTurn, temporaryFolder } from './samples';

function filledDatabase(path: string, chats = 1): void {
  const db = openDatabase(path);
  const calls = createCalls(db);
  for (let index = 0; index < chats; index++) {
    const chat = calls.createChat(sampleChat());
    const { user, assistant } = sampleTurn(chat.id, 'What floats? '.repeat(50));
    calls.beginTurn({ chatId: chat.id, user, assistant, at: 5 });
  }
  closeDatabase(db);
}

describe('migrations', () => {
  const next = [...MIGRATIONS, 'ALTER TABLE chats ADD COLUMN folder TEXT'];

  it('a migration first writes a copy that can be put back', () => {
    const path = join(temporaryFolder(), 'hearth.db');
    filledDatabase(path);
    const now = new Date('2026-11-29T10:00:00Z');
    const db = openDatabase(path, next, now);
    expect(schemaVersion(db)).toBe(MIGRATIONS.length + 1);
    closeDatabase(db);
    const backup = `${path}.v${MIGRATIONS.length}-20261129T100000.bak`;
    renameSync(backup, path);
    const restored = openDatabase(path);
    expect(schemaVersion(restored)).toBe(MIGRATIONS.length);
    expect(createCalls(restored).listChats().length).toBe(1);
    closeDatabase(restored);
  });

  it('a migration that fails leaves the database as it was', () => {
    const path = join(temporaryFolder(), 'hearth.db');
    filledDatabase(path);
    expect(() => openDatabase(path, [...MIGRATIONS, 'DROP TABLE settings; NONSENSE'])).toThrow(/database/);
    const db = openDatabase(path);
    expect(schemaVersion(db)).toBe(MIGRATIONS.length);
    expect(createCalls(db).settings().theme).toBe('auto');
    closeDatabase(db);
  });

  it('a database of a newer Hearth is left alone', async () => {
    const path = join(temporaryFolder(), 'hearth.db');
    closeDatabase(openDatabase(path, next));
    const before = readFileSync(path);
    await expect(openStore({ path })).rejects.toMatchObject({
      code: 'database_error',
      message: expect.stringMatching(/newer/),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('opening twice changes nothing and writes no copy', () => {
    const path = join(temporaryFolder(), 'hearth.db');
    filledDatabase(path);
    closeDatabase(openDatabase(path));
    expect(readdirSync(join(path, '..'))).toEqual(['hearth.db']);
  });
});

describe('damaged files', () => {
  const damages: [string, (path: string) => void][] = [
    ['text instead of a database', (path) => writeFileSync(path, 'chats, chats, chats '.repeat(1000))],
    [
      'a truncated database',
      (path) => {
        filledDatabase(path, 200);
        truncateSync(path, Math.floor(readFileSync(path).length / 2));
      },
    ],
    [
      'overwritten pages',
      (path) => {
        filledDatabase(path, 200);
        const bytes = readFileSync(path);
        bytes.fill(0x5a, 8192, 40_960);
        writeFileSync(path, bytes);
      },
    ],
  ];

  it.each(damages)('%s is kept aside with a typed error, and the next start is clean', async (_name, damage) => {
    const path = join(temporaryFolder(), 'hearth.db');
    damage(path);
    const bytes = readFileSync(path);
    await expect(openStore({ path })).rejects.toMatchObject({
      code: 'database_error',
      message: expect.stringMatching(/damaged-/),
    });
    const aside = readdirSync(join(path, '..')).find((name) => /^hearth\.db\.damaged-\d+T\d+$/.test(name));
    expect(readFileSync(join(path, '..', aside ?? '')).equals(bytes)).toBe(true);
    const store = await openStore({ path });
    expect(await store.listChats()).toEqual([]);
    await store.close();
    expect(existsSync(path)).toBe(true);
  });

  it('a folder that is missing is a typed error', async () => {
    await expect(openStore({ path: join(temporaryFolder(), 'none', 'hearth.db') })).rejects.toMatchObject({
      code: 'database_error',
    });
  });
});
