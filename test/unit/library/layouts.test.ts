// Folders of other programs: read where they are, nothing copied, nothing of theirs ever touched.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FolderKind } from '../../../electron/contract/models';
import { createLibrary } from '../../../electron/library/library';
import { ollamaTitle, weightsOf } from '../../../electron/library/ollama';
import { layoutOf, standardPlaces } from '../../../electron/library/places';
import { scanFolder } from '../../../electron/library/scan';
import { MAX_ENTRIES } from '../../../electron/library/walk';
import { fakeProbe, folder, put, sha256, treeHash } from './files';

const WEIGHTS = 'application/vnd.ollama.image.model';
const manifestOf = (digest: string) =>
  JSON.stringify({ schemaVersion: 2, layers: [{ mediaType: WEIGHTS, digest: `sha256:${digest}`, size: 3 }] });

/** As Ollama writes it: two names of one blob, one model of the hub. */
function ollama(): string {
  const [a, b] = [sha256('aaa'), sha256('bbbb')];
  return folder({
    'manifests/registry.ollama.ai/library/gpt-oss/20b': manifestOf(a),
    'manifests/registry.ollama.ai/library/mine/latest': manifestOf(a),
    'manifests/hf.co/acme/Tiny-GGUF/Q4_K_M': manifestOf(b),
    [`blobs/sha256-${a}`]: 'aaa',
    [`blobs/sha256-${b}`]: 'bbbb',
    [`blobs/sha256-${sha256('license')}`]: 'license',
  });
}

function lmStudio(): string {
  return folder({
    '.lmstudio/models/acme/Tiny-GGUF/Tiny-Q4_K_M.gguf': 'tiny',
    '.lmstudio/models/acme/Tiny-GGUF/mmproj-Tiny.gguf': 'eye',
    '.lmstudio/models/acme/Big/Big-00001-of-00002.gguf': 'one',
    '.lmstudio/models/acme/Big/Big-00002-of-00002.gguf': 'two',
  });
}

function huggingFace(): string {
  const blob = sha256('weights');
  const root = folder({
    [`hub/models--acme--Tiny/blobs/${blob}`]: 'weights',
    'hub/models--acme--Tiny/blobs/0123456789012345678901234567890123456789': '{}',
    'hub/models--acme--Tiny/refs/main': 'c0ffee',
  });
  for (const revision of ['c0ffee', 'older']) {
    const snapshot = join(root, 'hub/models--acme--Tiny/snapshots', revision);
    mkdirSync(snapshot, { recursive: true });
    symlinkSync(`../../blobs/${blob}`, join(snapshot, 'model.safetensors'));
    symlinkSync('../../blobs/0123456789012345678901234567890123456789', join(snapshot, 'config.json'));
  }
  return root;
}

async function listed(path: string, kind: FolderKind, probe = fakeProbe()) {
  const settings = { folders: [{ id: 'theirs', path, kind }], aliases: {} };
  const library = createLibrary({ own: join(folder(), 'none'), settings, probe, places: [] });
  onTestFinished(() => library.close());
  await library.refresh();
  await library.identified();
  return library;
}

describe('layouts', () => {
  it("Ollama's blobs have the names of their manifests, and each is one model", async () => {
    const root = ollama();
    const library = await listed(root, 'ollama');
    expect(
      library.list().map(({ name, fileBytes, folder: kind, aliases }) => [name, fileBytes, kind, aliases]),
    ).toEqual([
      ['tiny-gguf:q4_k_m', 4, 'ollama', undefined],
      ['gpt-oss:20b', 3, 'ollama', ['mine']],
    ]);
    expect(library.list()[1]?.path).toBe(join(root, `blobs/sha256-${sha256('aaa')}`));
    expect(library.find('mine:latest').name).toBe('gpt-oss:20b');
  });

  it("LM Studio's models are found where they are, without the projectors", async () => {
    const library = await listed(join(lmStudio(), '.lmstudio/models'), 'lmstudio');
    expect(library.list().map(({ name }) => name)).toEqual(['big', 'tiny-q4_k_m']);
  });

  it("a model in two snapshots of Hugging Face's cache is one model", async () => {
    const library = await listed(huggingFace(), 'huggingface');
    expect(library.list().map(({ name, fileBytes }) => [name, fileBytes])).toEqual([['tiny', 9]]);
  });

  it('one model of the cache can be added by itself', async () => {
    const library = await listed(join(huggingFace(), 'hub/models--acme--Tiny/snapshots/c0ffee'), 'huggingface');
    expect(library.list().map(({ name }) => name)).toEqual(['tiny']);
  });

  it('whose layout it is, is seen from the layout', async () => {
    expect(await layoutOf(ollama())).toBe('ollama');
    expect(await layoutOf(join(lmStudio(), '.lmstudio/models'))).toBe('lmstudio');
    expect(await layoutOf(huggingFace())).toBe('huggingface');
    expect(await layoutOf(join(huggingFace(), 'hub'))).toBe('huggingface');
    expect(await layoutOf(folder({ 'a.gguf': '' }))).toBe('user');
  });

  it.each([
    ['ollama', ollama, ''],
    ['lmstudio', lmStudio, '.lmstudio/models'],
    ['huggingface', huggingFace, ''],
  ] as const)('listing, removing and forgetting change nothing in a folder of %s', async (kind, make, within) => {
    const root = make();
    const before = treeHash(root);
    const library = await listed(join(root, within), kind);
    const models = library.list();
    expect(models.length).toBeGreaterThan(0);
    for (const { name } of models) await expect(library.remove(name)).rejects.toMatchObject({ code: 'not_owned' });
    await library.configure({ folders: [], aliases: {} });
    expect(library.list()).toEqual([]);
    expect(treeHash(root)).toBe(before);
  });

  it('a setting that calls a folder ours makes nothing deletable', async () => {
    const root = folder({ 'a.gguf': 'a' });
    const before = treeHash(root);
    const library = await listed(root, 'own');
    await expect(library.remove('a')).rejects.toMatchObject({ code: 'not_owned' });
    expect(treeHash(root)).toBe(before);
  });

  it('standard places that exist are offered, unread, until they are added', async () => {
    const [theirs, mine] = [ollama(), folder({ 'a.gguf': 'a' })];
    const places = [
      { path: theirs, kind: 'ollama' as const },
      { path: join(theirs, 'gone'), kind: 'lmstudio' as const },
    ];
    const library = createLibrary({ own: mine, probe: fakeProbe(), places });
    onTestFinished(() => library.close());
    expect((await library.folders()).map(({ kind, suggested, models }) => [kind, suggested, models])).toEqual([
      ['own', false, 1],
      ['ollama', true, 0],
    ]);
    expect(library.list().length).toBe(1);
    const added = { id: 'x', ...(await library.folderAt(theirs)) };
    expect(added.kind).toBe('ollama');
    await library.configure({ folders: [added], aliases: {} });
    expect(
      (await library.folders()).map(({ kind, suggested, models, bytes }) => [kind, suggested, models, bytes]),
    ).toEqual([
      ['own', false, 1, 1],
      ['ollama', false, 2, 7],
    ]);
    await expect(library.folderAt(theirs)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(library.folderAt('relative')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(library.folderAt(join(theirs, 'gone'))).rejects.toMatchObject({ code: 'file_not_found' });
  });

  it('the environment of the other programs says where they are', () => {
    const places = standardPlaces({ HOME: '/h', OLLAMA_MODELS: '/big/ollama', HF_HOME: '/big/hf' }, 'darwin');
    expect(places.map(({ path }) => path)).toEqual([
      '/big/ollama',
      '/h/.ollama/models',
      '/h/.lmstudio/models',
      '/h/.cache/lm-studio/models',
      '/big/hf/hub',
      '/h/.cache/huggingface/hub',
      '/h/.cache/llama.cpp',
    ]);
  });
});

describe('hostile folders', () => {
  it.each([
    ['a path', '/etc/passwd'],
    ['a way out', `sha256:../../../../${'a'.repeat(49)}`],
    ['capitals', `sha256:${'A'.repeat(64)}`],
    ['too short', 'sha256:abcd'],
    ['another hash', `sha512:${'a'.repeat(64)}`],
    ['a line end', `sha256:${'a'.repeat(64)}\n`],
  ])('a digest that is %s names no file', (_what, digest) => {
    const text = JSON.stringify({ layers: [{ mediaType: WEIGHTS, digest, size: 1 }] });
    expect(weightsOf(text)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['no object', '[]'],
    ['deep', '['.repeat(200_000)],
    ['deep within', `{"layers":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    [
      'two weights',
      JSON.stringify({ layers: Array(2).fill({ mediaType: WEIGHTS, digest: `sha256:${'a'.repeat(64)}`, size: 1 }) }),
    ],
  ])('a manifest that is %s has no weights', (_what, text) => expect(weightsOf(text)).toBeUndefined());

  it('broken, huge and strange manifests cost a note, not the models beside them', async () => {
    const root = ollama();
    put(root, {
      'manifests/registry.ollama.ai/library/huge/latest': 'x'.repeat(1_000_000),
      'manifests/registry.ollama.ai/library/gone/latest': manifestOf('f'.repeat(64)),
      'manifests/registry.ollama.ai/library/not/json': 'nonsense',
    });
    const outside = folder({ secret: 'secret' });
    symlinkSync(join(outside, 'secret'), join(root, `blobs/sha256-${'e'.repeat(64)}`));
    put(root, { 'manifests/registry.ollama.ai/library/out/latest': manifestOf('e'.repeat(64)) });
    const { found, notes } = await scanFolder(root, 'ollama');
    expect(found.map(({ titles }) => titles)).toEqual([['Tiny-GGUF:Q4_K_M'], ['gpt-oss:20b', 'mine']]);
    expect(notes.map(({ code, path }) => `${code} ${path}`).sort()).toEqual([
      'bad_manifest manifests/registry.ollama.ai/library/gone/latest',
      'bad_manifest manifests/registry.ollama.ai/library/huge/latest',
      'bad_manifest manifests/registry.ollama.ai/library/not/json',
      'link_outside manifests/registry.ollama.ai/library/out/latest',
    ]);
  });

  it.runIf(process.platform === 'linux')('pipes and devices hold nothing up', async () => {
    const root = folder({ 'a.gguf': 'a', 'hf/config.json': '{}' });
    execFileSync('mkfifo', [join(root, 'pipe.gguf'), join(root, 'hf/model.safetensors')]);
    symlinkSync('/dev/zero', join(root, 'zero.gguf'));
    symlinkSync(join(root, 'pipe.gguf'), join(root, 'to-pipe.gguf'));
    expect((await scanFolder(root)).found.map(({ path }) => path)).toEqual([join(root, 'a.gguf')]);
    const theirs = ollama();
    execFileSync('mkfifo', [join(theirs, 'manifests/registry.ollama.ai/library/gpt-oss/pipe')]);
    symlinkSync('/dev/zero', join(theirs, 'manifests/registry.ollama.ai/library/gpt-oss/zero'));
    expect((await scanFolder(theirs, 'ollama')).found.length).toBe(2);
  });

  it('links out of the folder are told, not followed', async () => {
    const outside = folder({ 'secret.gguf': 's', 'dir/other.gguf': 'o' });
    const root = folder({ 'inside/real.gguf': 'r' });
    symlinkSync(join(outside, 'secret.gguf'), join(root, 'link.gguf'));
    symlinkSync(join(outside, 'dir'), join(root, 'linked'));
    symlinkSync(root, join(root, 'inside/circle'));
    const { found, notes } = await scanFolder(root);
    expect(found.map(({ path }) => path)).toEqual([join(root, 'inside/real.gguf')]);
    expect(notes).toEqual([
      { code: 'link_outside', path: 'link.gguf' },
      { code: 'link_outside', path: 'linked' },
    ]);
  });

  it('a title with slashes or unseen characters becomes a plain name', () => {
    expect(ollamaTitle('/m/manifests/host/space/Name/latest')).toBe('Name');
    expect(ollamaTitle('/m/manifests/host/space/Name/20b')).toBe('Name:20b');
  });

  it(
    'fifty thousand entries and more are looked at in bounded time, and the event loop goes on',
    { timeout: 120_000 },
    async () => {
      const root = folder({ 'a.gguf': 'a' });
      for (let index = 0; index < MAX_ENTRIES + 500; index++) writeFileSync(join(root, `f${index}`), '');
      let longest = 0;
      let last = performance.now();
      const timer = setInterval(() => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
      }, 5);
      const { notes } = await scanFolder(root);
      clearInterval(timer);
      expect(notes).toEqual([{ code: 'too_many_entries', path: '.' }]);
      // The machine may be busy; a synchronous walk would take far longer than this at one stretch.
      expect(longest).toBeLessThan(1500);
    },
  );
});
