// Moving models, cache and chats: the new place is proved before the old one goes, and whatever breaks off leaves one that is whole.
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appFolders, dataDirAt, dataDirPath, openDataDir } from '../../../electron/app/data-dir';
import { createLocations, type LocationsOptions } from '../../../electron/app/locations';
import { HearthError } from '../../../electron/contract/errors';
import { copyVerified, onDisk } from '../../../electron/library/file-work';
import { createLibrary } from '../../../electron/library/library';
import { planMove, refuseFull } from '../../../electron/library/move-tree';
import { openStore } from '../../../electron/store/open';
import { fakeProbe, folder, put, sha256, treeHash, until } from '../library/files';
import { sampleChat } from '../store/samples';

/** Another file system, where the machine has one at hand. */
const shm = ['/dev/shm'].find((path) => existsSync(path) && statSync(path).dev !== statSync(tmpdir()).dev);
if (shm === undefined) console.log('Skipped: moves to another disk; there is only one here.');

function otherDisk(): string {
  const path = mkdtempSync(join(shm ?? tmpdir(), 'hearth-move-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const quiet = { info: () => undefined, warn: () => undefined };

function locationsIn(root: string, options: Partial<LocationsOptions> = {}) {
  const dir = openDataDir(root);
  const locations = createLocations({
    dir,
    library: { moved: async () => undefined },
    store: { moveTo: async () => undefined },
    obstacle: () => undefined,
    log: quiet,
    ...options,
  });
  onTestFinished(() => locations.close());
  const ended = async () => {
    await until(() => locations.moves().every(({ phase }) => phase === 'done' || phase === 'failed'));
    return locations.moves()[0];
  };
  return { dir, locations, ended };
}

describe('moving', () => {
  it('models: everything is there, the list goes on, the old place is empty', async () => {
    const root = folder();
    const dir = openDataDir(root);
    put(dir.models, { 'acme/a.gguf': 'aaa', 'hf/config.json': '{}', 'hf/model.safetensors': 'www' });
    mkdirSync(join(dir.models, 'zz'));
    symlinkSync('../acme/a.gguf', join(dir.models, 'zz/same.gguf'));
    const library = createLibrary({ own: dir.models, probe: fakeProbe(), places: [] });
    await library.refresh();
    await library.knows([{ path: join(dir.models, 'acme/a.gguf'), sha256: sha256('aaa'), verified: true }]);
    const { dir: livedir, locations, ended } = locationsIn(root, { library });
    const to = join(folder(), 'new', 'place');
    expect(await locations.move({ what: 'models', to })).toMatchObject({ what: 'models', totalBytes: 8 });
    expect(await ended()).toMatchObject({ phase: 'done', doneBytes: 8 });
    expect(livedir.models).toBe(to);
    expect(dataDirAt(root).models).toBe(to);
    expect(readFileSync(join(to, 'acme/a.gguf'), 'utf8')).toBe('aaa');
    expect(existsSync(dir.models) && readdirSync(join(root, 'models')).length > 0).toBe(false);
    await library.identified();
    expect(library.list().map(({ name, path }) => [name, path])).toEqual([
      ['a', join(to, 'acme/a.gguf')],
      ['hf', join(to, 'hf')],
    ]);
    expect(library.list()[0]?.verification?.state).toBe('matches');
    expect((await locations.list()).map(({ what, path, bytes }) => [what, path, bytes])).toEqual([
      ['models', to, 8],
      ['cache', join(root, 'cache'), 0],
      ['chats', root, 0],
    ]);
  });

  it('what is in use stays, and is said by its code', async () => {
    const root = folder();
    const { dir, locations } = locationsIn(root, { obstacle: () => new HearthError('model_in_use', 'm is loaded.') });
    put(dir.models, { 'a.gguf': 'a' });
    const before = treeHash(root);
    await expect(locations.move({ what: 'models', to: join(folder(), 'x') })).rejects.toMatchObject({
      code: 'model_in_use',
    });
    expect(treeHash(root)).toBe(before);
  });

  it('a model that is loaded while it is copied stays where it is', async () => {
    const root = folder();
    let asked = 0;
    const obstacle = () => (++asked > 1 ? new HearthError('model_in_use', 'm is loaded.') : undefined);
    const { dir, locations, ended } = locationsIn(root, { obstacle });
    put(dir.models, { 'a.gguf': 'a' });
    const to = join(folder(), 'x');
    await locations.move({ what: 'models', to });
    expect(await ended()).toMatchObject({ phase: 'failed', error: { code: 'model_in_use' } });
    expect(readFileSync(join(dir.models, 'a.gguf'), 'utf8')).toBe('a');
    expect(dataDirAt(root).models).toBe(join(root, 'models'));
  });

  it('no place within itself, around itself, of others, or in use is taken', async () => {
    const root = folder();
    const { dir, locations } = locationsIn(root);
    put(dir.models, { 'a.gguf': 'a' });
    const full = folder({ mine: 'm' });
    const file = join(full, 'mine');
    symlinkSync(dir.models, join(full, 'link'));
    const before = treeHash(root) + treeHash(full);
    for (const to of [dir.models, join(dir.models, 'x'), root, full, file, join(full, 'link'), join(full, 'link', 'x')])
      await expect(locations.move({ what: 'models', to }), to).rejects.toMatchObject({ code: 'invalid_request' });
    expect(treeHash(root) + treeHash(full)).toBe(before);
  });

  it('a move that was broken off can be made again', async () => {
    const root = folder();
    const { dir, locations, ended } = locationsIn(root);
    put(dir.models, { 'a.gguf': 'whole' });
    const to = folder({ '.hearth-move': '', 'a.gguf': 'ha' });
    await locations.move({ what: 'models', to });
    expect((await ended())?.phase).toBe('done');
    expect(readFileSync(join(to, 'a.gguf'), 'utf8')).toBe('whole');
    expect(readdirSync(to)).toEqual(['a.gguf']);
  });

  it.skipIf(shm === undefined)(
    'to another disk: copied, read again, and then only removed',
    { timeout: 60_000 },
    async () => {
      const root = folder();
      const { dir, locations, ended } = locationsIn(root);
      const content = randomBytes(9_000_000);
      put(dir.models, { 'b.gguf': 'b' });
      writeFileSync(join(dir.models, 'a.gguf'), content);
      utimesSync(join(dir.models, 'a.gguf'), 1_000_000, 1_000_000);
      const to = otherDisk();
      await locations.move({ what: 'models', to });
      expect(await ended()).toMatchObject({ phase: 'done', doneBytes: 9_000_001 });
      expect(sha256(readFileSync(join(to, 'a.gguf')))).toBe(sha256(content));
      expect(statSync(join(to, 'a.gguf')).mtimeMs).toBe(1_000_000_000);
      expect(readdirSync(to).sort()).toEqual(['a.gguf', 'b.gguf']);
      expect(existsSync(join(root, 'models'))).toBe(false);
    },
  );

  it.skipIf(shm === undefined)(
    'broken off in the middle: the old place is whole and valid, and it can be made again',
    { timeout: 60_000 },
    async () => {
      const root = folder();
      const first = locationsIn(root);
      writeFileSync(join(first.dir.models, 'a.gguf'), randomBytes(200_000_000));
      const before = treeHash(first.dir.models);
      const to = otherDisk();
      await first.locations.move({ what: 'models', to });
      await until(() => (first.locations.moves()[0]?.doneBytes ?? 0) > 0);
      await first.locations.close();
      expect(first.locations.moves()).toMatchObject([{ phase: 'failed', error: { code: 'cancelled' } }]);
      expect(treeHash(first.dir.models)).toBe(before);
      expect(existsSync(join(root, 'locations.json'))).toBe(false);
      const second = locationsIn(root);
      const wanted = sha256(readFileSync(join(root, 'models/a.gguf')));
      await second.locations.move({ what: 'models', to });
      expect((await second.ended())?.phase).toBe('done');
      expect(sha256(readFileSync(join(to, 'a.gguf')))).toBe(wanted);
    },
  );

  it('too little space is said before anything is written, with what is needed', async () => {
    const plan = await planMove(folder({ 'a.gguf': 'a' }), join(folder(), 'x'));
    expect(plan).toMatchObject({ bytes: 1, sameDisk: true });
    expect(() => refuseFull('/x', 1000, 500)).toThrow(expect.objectContaining({ code: 'disk_full', available: 500 }));
    expect(() => refuseFull('/x', 1000, 1e12)).not.toThrow();
  });

  it('failures of the disk have their codes', async () => {
    const fails = (code: string) => onDisk('/x', () => Promise.reject(Object.assign(new Error('no'), { code })));
    await expect(fails('ENOSPC')).rejects.toMatchObject({ code: 'disk_full' });
    await expect(fails('EIO')).rejects.toMatchObject({ code: 'disk_error' });
  });

  it('what somebody has laid where the copy grows is never written through', async () => {
    const root = folder({ 'a.gguf': 'content', victim: 'mine' });
    symlinkSync(join(root, 'victim'), join(root, 'b.gguf.hearth-part'));
    const steps = { copied: () => undefined, verified: () => undefined };
    expect(await copyVerified(join(root, 'a.gguf'), join(root, 'b.gguf'), steps)).toBe(sha256('content'));
    expect(readdirSync(root).sort()).toEqual(['a.gguf', 'b.gguf', 'victim']);
    expect(readFileSync(join(root, 'victim'), 'utf8')).toBe('mine');
    const nowhere = copyVerified(join(root, 'a.gguf'), join(root, 'no/b.gguf'), steps);
    await expect(nowhere).rejects.toMatchObject({ code: 'disk_error' });
  });

  it('a copy that is not the same is no copy', async () => {
    const root = folder({ 'a.gguf': 'content' });
    const spoil = () => writeFileSync(join(root, 'b.gguf.hearth-part'), 'spoiled');
    let copied = false;
    const steps = { copied: () => void (copied = true), verified: () => undefined };
    const work = copyVerified(join(root, 'a.gguf'), join(root, 'b.gguf'), {
      ...steps,
      copied: () => {
        copied = true;
        queueMicrotask(spoil);
      },
    });
    await expect(work).rejects.toMatchObject({ code: 'disk_error' });
    expect(copied).toBe(true);
    expect(readdirSync(root)).toEqual(['a.gguf']);
  });
});

describe('chats', () => {
  it('move while they are in use, and are found there after a restart', { timeout: 60_000 }, async () => {
    const root = folder();
    const dir = openDataDir(root);
    const store = await openStore({ path: dir.database });
    const chat = await store.createChat(sampleChat());
    const { dir: livedir, locations, ended } = locationsIn(root, { store });
    const to = join(folder(), 'chats');
    await locations.move({ what: 'chats', to });
    const during = store.createChat(sampleChat());
    expect(await ended()).toMatchObject({ phase: 'done' });
    await during;
    expect((await store.listChats()).length).toBe(2);
    expect(livedir.database).toBe(join(to, 'hearth.db'));
    await store.close();
    expect(existsSync(join(root, 'hearth.db'))).toBe(false);
    const again = await openStore({ path: openDataDir(root).database });
    expect((await again.getChat(chat.id))?.id).toBe(chat.id);
    await again.close();
  });

  it('a switch that cannot be written leaves them where they were', { timeout: 60_000 }, async () => {
    const root = folder();
    const store = await openStore({ path: join(root, 'hearth.db') });
    const chat = await store.createChat(sampleChat());
    const to = folder();
    const change = { path: join(root, 'no/such/folder/locations.json'), text: '{}' };
    await expect(store.moveTo(join(to, 'hearth.db'), change)).rejects.toMatchObject({ code: 'disk_error' });
    expect(readdirSync(to)).toEqual([]);
    expect((await store.getChat(chat.id))?.id).toBe(chat.id);
    await store.close();
    expect(existsSync(join(root, 'hearth.db'))).toBe(true);
  });

  it('on a disk that is gone they are missed by name, and no empty ones are made', () => {
    const root = folder({ 'locations.json': JSON.stringify({ chats: join(folder(), 'gone') }) });
    expect(() => openDataDir(root)).toThrow(/Your chats lie in .*gone/);
    writeFileSync(join(root, 'locations.json'), '{"models": "relative"}');
    expect(() => openDataDir(root)).toThrow(/cannot be read/);
  });
});

describe('portable', () => {
  it('a marker beside the app keeps everything there; what is asked for comes first', () => {
    const app = folder({ portable: '' });
    const env = { HOME: '/home/me' };
    expect(dataDirPath(undefined, env, 'linux', ['/nowhere', app])).toBe(join(app, 'data'));
    expect(dataDirPath(undefined, { ...env, HEARTH_DATA_DIR: '/env' }, 'linux', [app])).toBe('/env');
    expect(dataDirPath(undefined, env, 'linux', [folder()])).toBe('/home/me/.local/share/Hearth');
  });

  it.each([
    ['win32', { PORTABLE_EXECUTABLE_DIR: '/stick' }, '/tmp/unpacked/Hearth.exe', ['/stick', '/tmp/unpacked']],
    ['linux', { APPIMAGE: '/home/me/Hearth.AppImage' }, '/tmp/.mount/hearth', ['/home/me', '/tmp/.mount']],
    ['darwin', {}, '/Apps/Hearth.app/Contents/MacOS/Hearth', ['/Apps', '/Apps/Hearth.app/Contents/MacOS']],
    ['linux', {}, undefined, []],
  ])('on %s it is beside what was started', (platform, env, executable, expected) => {
    expect(appFolders('/x/app.asar', env, platform, executable ?? undefined)).toEqual(expected);
  });

  it('a moved cache whose disk is gone is replaced, moved models are not made up', () => {
    const gone = join(folder(), 'gone');
    const root = folder({ 'locations.json': JSON.stringify({ cache: gone, models: gone }) });
    const dir = openDataDir(root);
    expect([dir.cache, dir.models]).toEqual([join(root, 'cache'), gone]);
    expect(existsSync(gone)).toBe(false);
    mkdirSync(gone);
    expect(dataDirAt(root).cache).toBe(gone);
  });
});
