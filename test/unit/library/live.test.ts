// A library that watches, remembers and hashes: what appears without a restart, what is read again, what is proved.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLibrary } from '../../../electron/library/library';
import { verificationOf } from '../../../electron/library/memory';
import { Settling } from '../../../electron/library/settling';
import type { LibraryOptions } from '../../../electron/library/types';
import { createCalls } from '../../../electron/store/database';
import { closeDatabase, openDatabase } from '../../../electron/store/migrate';
import { peek } from '../../../electron/store/peek';
import type { FileHash, KnownModel, ModelUse } from '../../../electron/store/types';
import { fakeProbe, folder, put, sha256, treeHash, until } from './files';

/** The real tables without their thread. */
function memoryAt(path: string) {
  const db = openDatabase(path);
  const calls = createCalls(db);
  return {
    memory: calls.libraryMemory(),
    store: {
      saveModels: async (models: KnownModel[]) => calls.saveModels(models),
      saveHashes: async (hashes: FileHash[]) => calls.saveHashes(hashes),
      forgetModels: async (paths: string[]) => calls.forgetModels(paths),
      saveUse: async (use: ModelUse) => calls.saveUse(use),
    },
    close: () => closeDatabase(db),
  };
}

function live(own: string, options: Partial<LibraryOptions> = {}) {
  const probe = fakeProbe();
  const library = createLibrary({
    own,
    probe,
    places: [],
    live: { busy: () => false, settleMs: 150, hashAfterMs: 0 },
    ...options,
  });
  onTestFinished(() => library.close());
  return { library, probe };
}

/** One that looks only when it is told to. */
async function still(own: string) {
  const library = createLibrary({ own, probe: fakeProbe(), places: [] });
  onTestFinished(() => library.close());
  await library.refresh();
  return library;
}

const stateOf = (library: { list(): { verification?: { state: string } }[] }) => library.list()[0]?.verification?.state;

describe('what appears without a restart', () => {
  it('a file that is dropped in, in a new folder too, and one that is taken away', { timeout: 60_000 }, async () => {
    const root = folder({ 'a.gguf': 'a' });
    const { library } = live(root);
    await library.refresh();
    let told = 0;
    library.watch(() => told++);
    put(root, { 'acme/new/b.gguf': 'b' });
    await until(() => library.list().some(({ name, info }) => name === 'b' && info !== undefined));
    expect(told).toBeGreaterThan(0);
    const before = library.version();
    rmSync(join(root, 'a.gguf'));
    await until(() => library.list().length === 1);
    expect(library.version()).toBeGreaterThan(before);
  });

  it('a file that is still being written is not looked at until it rests', { timeout: 60_000 }, async () => {
    const root = folder();
    const { library, probe } = live(root, { live: { busy: () => true, settleMs: 700 } });
    await library.refresh();
    const path = join(root, 'a.gguf');
    let longest = 0;
    let last = performance.now();
    for (let piece = 0; piece < 12; piece++) {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      appendFileSync(path, 'piece');
      if (library.list().length > 0 && longest < 500) expect(library.list()[0]?.error?.code).toBe('still_copying');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // A machine that stood still meanwhile has let the file rest.
    if (longest < 500) expect(probe.asked).toEqual([]);
    await until(() => library.list()[0]?.info !== undefined);
    expect(probe.asked.at(-1)).toBe(path);
    expect(library.list()[0]?.error).toBeUndefined();
  });

  it.each([
    ['an old file', 1000, 1000, false],
    ['one that was just written', 99_900, 99_900, true],
    ['one of the future that does not change', 500_000, 500_000, true],
  ])('%s rests as it should', (_what, first, mtimeMs, expected) => {
    const settling = new Settling(2000);
    const model = (time: number) => [
      {
        found: {
          path: '/a',
          isFolder: false,
          missing: [],
          files: [{ path: '/a', real: '/a', size: 1, mtimeMs: time }],
        },
        print: `${time}`,
      },
    ];
    settling.look([], 0);
    expect(settling.look(model(first), 100_000).size === 1).toBe(expected);
    expect(settling.look(model(mtimeMs), 103_000).size).toBe(0);
  });

  it('what was there at the start rests', () => {
    const settling = new Settling(2000);
    const file = { path: '/a', real: '/a', size: 1, mtimeMs: 100_000 };
    const found = { path: '/a', isFolder: false, missing: [], files: [file] };
    expect(settling.look([{ found, print: 'p' }], 100_001).size).toBe(0);
  });
});

describe('what is remembered over a restart', () => {
  it('only changed headers are read again; another Hearth reads them all', async () => {
    const root = folder({ 'a.gguf': 'a', 'b.gguf': 'b' });
    const path = join(folder(), 'hearth.db');
    const start = async (version: string) => {
      const { memory, store, close } = memoryAt(path);
      const probe = fakeProbe();
      const library = createLibrary({ own: root, probe, memory, store, version, places: [] });
      await library.refresh();
      await library.identified();
      const listed = library.list();
      library.close();
      close();
      return { asked: probe.asked, listed };
    };
    expect((await start('1')).asked.length).toBe(2);
    const again = await start('1');
    expect(again.asked).toEqual([]);
    expect(again.listed[0]?.info?.context).toBe(4096);
    writeFileSync(join(root, 'b.gguf'), 'other');
    expect((await start('1')).asked).toEqual([join(root, 'b.gguf')]);
    expect((await start('2')).asked.length).toBe(2);
  });

  it('use and speed belong to the model and not to its path', async () => {
    const root = folder({ 'a.gguf': 'a' });
    const path = join(folder(), 'hearth.db');
    const { memory, store, close } = memoryAt(path);
    const library = createLibrary({ own: root, probe: fakeProbe(), memory, store, places: [] });
    await library.refresh();
    await library.identified();
    library.used(join(root, 'a.gguf'), 10);
    library.used(join(root, 'a.gguf'), 20);
    library.used(join(root, 'a.gguf'));
    library.used('/nowhere', 99);
    expect(library.list()[0]).toMatchObject({ decodeTps: 13 });
    expect(library.list()[0]?.lastUsedAt).toBeGreaterThan(Date.now() - 60_000);
    close();
    expect(peek(path)?.memory.uses).toMatchObject([{ modelId: `id of ${join(root, 'a.gguf')}`, decodeTps: 13 }]);
  });

  it('a look into a database that is not there, or is none, gives nothing and makes nothing', () => {
    const root = folder({ 'no.db': 'this is no database, whatever it is called' });
    expect(peek(join(root, 'hearth.db'))).toBeUndefined();
    expect(peek(join(root, 'no.db'))).toBeUndefined();
    expect(readdirSync(root)).toEqual(['no.db']);
  });
});

describe('what is proved', () => {
  it('contents are hashed in the background, once, and kept', { timeout: 60_000 }, async () => {
    const root = folder({ 'a.gguf': 'content' });
    const path = join(folder(), 'hearth.db');
    const { memory, store, close } = memoryAt(path);
    const { library } = live(root, { memory, store });
    await library.refresh();
    await until(() => stateOf(library) === 'hashed');
    expect(library.list()[0]?.verification?.sha256).toEqual({ 'a.gguf': sha256('content') });
    library.close();
    close();
    const kept = peek(path);
    expect(kept?.memory.hashes).toMatchObject([{ path: join(root, 'a.gguf'), sha256: sha256('content') }]);
    const again = createLibrary({ own: root, probe: fakeProbe(), memory: kept?.memory, places: [] });
    await again.refresh();
    expect(stateOf(again)).toBe('hashed');
  });

  it('nothing is hashed while a model writes', { timeout: 60_000 }, async () => {
    const root = folder({ 'a.gguf': 'content' });
    let busy = true;
    const { library } = live(root, { live: { busy: () => busy, settleMs: 0, hashAfterMs: 0 } });
    await library.refresh();
    await library.identified();
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(stateOf(library)).toBe('waiting');
    busy = false;
    await until(() => stateOf(library) === 'hashed');
  });

  it('a blob that is not what its name says is a damaged file', { timeout: 60_000 }, async () => {
    const digest = sha256('right');
    const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}`, size: 5 }];
    const root = folder({
      'manifests/registry.ollama.ai/library/m/latest': JSON.stringify({ layers }),
      [`blobs/sha256-${digest}`]: 'wrong',
    });
    const settings = { folders: [{ id: 'x', path: root, kind: 'ollama' as const }], aliases: {} };
    const { library } = live(folder(), { settings });
    await library.refresh();
    await until(() => stateOf(library) === 'differs');
    expect(library.list()[0]?.error?.code).toBe('bad_file');
  });

  it('what a download has proved is not read again; a file that changes after it is', { timeout: 60_000 }, async () => {
    const root = folder({ 'a.gguf': 'content' });
    const { library } = live(root, { live: { busy: () => true, settleMs: 0, hashAfterMs: 0 } });
    await library.refresh();
    await library.knows([
      { path: join(root, 'a.gguf'), sha256: sha256('content'), verified: true },
      { path: join(root, 'gone.gguf'), sha256: sha256('x'), verified: true },
    ]);
    await library.identified();
    expect(stateOf(library)).toBe('matches');
    writeFileSync(join(root, 'a.gguf'), 'changed');
    utimesSync(join(root, 'a.gguf'), 1, 1);
    await library.refresh();
    await library.identified();
    expect(stateOf(library)).toBe('waiting');
  });

  const file = (size: number, name = 'a') => ({ path: `/${name}`, real: `/${name}`, size, mtimeMs: 1 });
  it.each([
    ['nothing', [{ file: file(1) }], 'unknown', { state: 'unknown' }],
    ['half of it', [{ file: file(10), bytes: 5 }], 'waiting', { state: 'hashing', fraction: 0.5 }],
    [
      'one of two parts',
      [
        { file: file(30), sha256: 'h' },
        { file: file(10, 'b'), bytes: 0 },
      ],
      'waiting',
      { state: 'hashing', fraction: 0.75 },
    ],
    ['all, against nothing', [{ file: file(1), sha256: 'h' }], 'waiting', { state: 'hashed', sha256: { a: 'h' } }],
    [
      'all, as it should be',
      [{ file: file(1), sha256: 'h', expected: 'h' }],
      'waiting',
      { state: 'matches', sha256: { a: 'h' } },
    ],
    [
      'one wrong part',
      [{ file: file(1), sha256: 'h', expected: 'x' }, { file: file(1, 'b') }],
      'waiting',
      { state: 'differs', sha256: { a: 'h' } },
    ],
  ] as const)('of a model of which %s is known, that is said', (_what, files, idle, expected) => {
    expect(verificationOf(files, idle)).toEqual(expected);
  });
});

describe('removing', () => {
  it('a split model goes with every part, its empty folders go, everything else stays', async () => {
    const root = folder({
      'acme/big/big-00001-of-00002.gguf': '1',
      'acme/big/big-00002-of-00002.gguf': '2',
      'other/note.txt': 'mine',
      'other/small.gguf': 's',
      'hf/tiny/config.json': '{}',
      'hf/tiny/model.safetensors': 'w',
      'hf/tiny/tokenizer.json': '{}',
    });
    const library = await still(root);
    await library.remove('big');
    expect(readdirSync(root).sort()).toEqual(['hf', 'other']);
    await library.remove('tiny');
    await library.remove('small');
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(['other', 'other/note.txt']);
    expect(library.list()).toEqual([]);
    await expect(library.remove('small')).rejects.toMatchObject({ code: 'model_not_found' });
    await expect(library.remove('../../etc/passwd')).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('a link is removed and what it leads to stays; a folder swapped for a link leads nowhere', async () => {
    const outside = folder({ 'a.gguf': 'a', 'keep/b.gguf': 'b' });
    const root = folder({ 'real.gguf': 'r', 'sub/b.gguf': 'b' });
    symlinkSync('real.gguf', join(root, 'zz-link.gguf'));
    const library = await still(root);
    const before = treeHash(outside);
    renameSync(join(root, 'sub'), join(root, 'aside'));
    symlinkSync(join(outside, 'keep'), join(root, 'sub'));
    await expect(library.remove('b')).rejects.toMatchObject({ code: 'not_owned' });
    expect(treeHash(outside)).toBe(before);
    expect(existsSync(join(root, 'aside/b.gguf'))).toBe(true);
  });
});

describe('other names', () => {
  it('an alias finds the model and is told with it', async () => {
    const { library } = live(folder({ 'gpt-oss-20b.gguf': 'a' }));
    await library.refresh();
    const alias = library.checkedAlias('My-Model');
    await library.configure({ folders: [], aliases: { [alias]: 'gpt-oss-20b' } });
    expect(library.find('MY-MODEL').name).toBe('gpt-oss-20b');
    expect(library.list()[0]?.aliases).toEqual(['my-model']);
    for (const wrong of ['', ' ', 'a/b', '..\\b', 'two words', 'x'.repeat(200), 'gpt-oss-20b', '\u202e'])
      expect(() => library.checkedAlias(wrong), wrong).toThrow(/alias/);
    expect(() => library.find('__proto__')).toThrow(/no model called/);
  });
});

it('a folder that comes later is found', async () => {
  const root = join(folder(), 'later');
  const { library } = live(root);
  await library.refresh();
  mkdirSync(root);
  put(root, { 'a.gguf': 'a' });
  await library.refresh();
  expect(library.list().map(({ name }) => name)).toEqual(['a']);
});
