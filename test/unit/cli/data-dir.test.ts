// Where data lies, and that no two Hearths write it at once.
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataDirPath } from '../../../electron/app/data-dir';
import { ServerLock, livingServer, readServerFile } from '../../../electron/app/server-file';

describe('the data directory', () => {
  it('is the one that was asked for, then that of the environment, then the system’s', () => {
    const env = { HEARTH_DATA_DIR: '/from/env', HOME: '/home/me' };
    expect(dataDirPath('/asked', env, 'linux')).toBe(resolve('/asked'));
    expect(dataDirPath(undefined, env, 'linux')).toBe(resolve('/from/env'));
    expect(dataDirPath(undefined, { HOME: '/home/me' }, 'linux')).toBe('/home/me/.local/share/Hearth');
    expect(dataDirPath(undefined, { HOME: '/home/me', XDG_DATA_HOME: '/data' }, 'linux')).toBe('/data/Hearth');
    expect(dataDirPath(undefined, { HOME: '/Users/me' }, 'darwin')).toBe(
      '/Users/me/Library/Application Support/Hearth',
    );
  });
});

describe('server.json', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hearth-lock-'));
    path = join(folder, 'server.json');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const DEAD = 2 ** 22 + 1;

  it('is taken over from a process that is gone', async () => {
    writeFileSync(path, JSON.stringify({ url: 'http://127.0.0.1:1', token: 'old', pid: DEAD, version: '0' }));
    const lock = await ServerLock.take(path, 'new', '1');
    expect(lock.publish('http://127.0.0.1:5')).toMatchObject({ token: 'new', url: 'http://127.0.0.1:5' });
    expect(readServerFile(path)?.token).toBe('new');
    expect(readdirSync(folder)).toEqual(['server.json']);
  });

  it('is taken over where it is nonsense', async () => {
    writeFileSync(path, '{"url":');
    await ServerLock.take(path, 'new', '1');
    expect(readServerFile(path)?.token).toBe('new');
  });

  it('keeps out a second one while the first is still starting, but not for ever', async () => {
    writeFileSync(path, JSON.stringify({ url: '', token: 'a', pid: process.ppid, version: '0' }));
    await expect(ServerLock.take(path, 'b', '1')).rejects.toMatchObject({ code: 'already_running' });
    const long = Date.now() / 1000 - 3600;
    utimesSync(path, long, long);
    expect(await livingServer(path)).toBeUndefined();
  });

  it('is not removed by one that no longer holds it', async () => {
    const lock = await ServerLock.take(path, 'mine', '1');
    writeFileSync(path, JSON.stringify({ url: 'x', token: 'theirs', pid: 1, version: '0' }));
    lock.release();
    expect(readServerFile(path)?.token).toBe('theirs');
  });
});
