// The list of models: what is found on disk, what it is called, what is remembered of it.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import { createLibrary } from '../../../electron/library/library';
import { editDistance, nearNames, plainName } from '../../../electron/library/names';
import { fakeProbe, folder, identified, put } from './files';

async function libraryOf(root: string, probe = fakeProbe(), builtin: string[] = []) {
  const library = createLibrary({ own: root, builtin, probe });
  onTestFinished(() => library.close());
  await library.refresh();
  return library;
}

const names = (library: { list(): { name: string }[] }) => library.list().map((model) => model.name);

describe('scanning', () => {
  it('finds files and Hugging Face folders, deep too, and nothing else', async () => {
    const root = folder({
      'Alpha Q4.gguf': 'a',
      'sub/deep/Beta.GGUF': 'b',
      'hf/Gamma-Model/config.json': '{}',
      'hf/Gamma-Model/model.safetensors': 'c',
      'no-config/model.safetensors': 'd',
      'readme.txt': 'e',
      'half.gguf.part': 'f',
      'mmproj-alpha.gguf': 'g',
      '.trash/old.gguf': 'h',
    });
    expect(names(await libraryOf(root)).sort()).toEqual(['alpha-q4', 'beta', 'gamma-model']);
  });

  it('a split model is one model, named without its parts', async () => {
    const root = folder({ 'big-00001-of-00002.gguf': 'aa', 'big-00002-of-00002.gguf': 'bbb' });
    const [model] = (await libraryOf(root)).list();
    expect(model).toMatchObject({ name: 'big', fileBytes: 5, path: join(root, 'big-00001-of-00002.gguf') });
    expect(model?.error).toBeUndefined();
  });

  it('an incomplete split model says which parts are missing and is not opened', async () => {
    const root = folder({ 'big-00002-of-00003.gguf': 'bbb' });
    const probe = fakeProbe();
    const library = await libraryOf(root, probe);
    await library.identified();
    const [model] = library.list();
    expect(model?.error).toMatchObject({ code: 'incomplete_model', message: expect.stringContaining('(1, 3)') });
    expect(probe.asked).toEqual([]);
  });

  it('links out of the folder and circles of links are not followed', async () => {
    const outside = folder({ 'secret.gguf': 's', 'dir/other.gguf': 'o' });
    const root = folder({ 'inside/real.gguf': 'r' });
    symlinkSync(join(outside, 'secret.gguf'), join(root, 'link.gguf'));
    symlinkSync(join(outside, 'dir'), join(root, 'linked'));
    symlinkSync(root, join(root, 'inside/circle'));
    symlinkSync(join(root, 'gone.gguf'), join(root, 'dangling.gguf'));
    expect(names(await libraryOf(root))).toEqual(['real']);
  });

  it("links within the folder are followed: Hugging Face's cache is made of them", async () => {
    const root = folder({ 'models--acme--Tiny/blobs/abc': 'x', 'models--acme--Tiny/snapshots/0f0f/config.json': '{}' });
    symlinkSync('../../blobs/abc', join(root, 'models--acme--Tiny/snapshots/0f0f/model.safetensors'));
    expect(names(await libraryOf(root))).toEqual(['tiny']);
  });

  it('a folder that is not there is empty', async () => {
    expect(names(await libraryOf('/nowhere/at/all'))).toEqual([]);
  });

  it('endless folders end', async () => {
    const root = folder({ [`${'d/'.repeat(30)}deep.gguf`]: 'x', 'top.gguf': 'y' });
    expect(names(await libraryOf(root))).toEqual(['top']);
  });
});

describe('looking at files', () => {
  it('looks at one file at a time, once, and again only after a change', async () => {
    const root = folder({ 'a.gguf': 'a', 'b.gguf': 'b', 'c.gguf': 'c' });
    const probe = fakeProbe((path) => (path.endsWith('b.gguf') ? 'The file is cut off.' : undefined));
    const library = await libraryOf(root, probe);
    await library.identified();
    await library.refresh();
    await library.identified();
    expect(probe.asked.length).toBe(3);
    expect(probe.most()).toBe(1);
    expect(library.list().map((model) => model.error?.code)).toEqual([undefined, 'bad_file', undefined]);
    expect(library.list()[0]?.info?.context).toBe(4096);

    writeFileSync(join(root, 'b.gguf'), 'another b');
    await library.refresh();
    await library.identified();
    expect(probe.asked.slice(3)).toEqual([join(root, 'b.gguf')]);
  });

  it('a failure of our own is no verdict on the file: it is tried again', async () => {
    const root = folder({ 'a.gguf': 'a' });
    let broken = true;
    const identify = async (path: string) => {
      if (broken) throw new HearthError('addon_missing', 'not built');
      return identified(path);
    };
    const library = createLibrary({ own: root, probe: { identify } });
    await library.refresh();
    await library.identified();
    expect(library.list()[0]?.error?.code).toBe('addon_missing');
    broken = false;
    await library.refresh();
    await library.identified();
    expect(library.list()[0]?.error).toBeUndefined();
  });

  it('watchers hear of new files and of what was found out', async () => {
    const root = folder();
    const library = await libraryOf(root);
    let heard = 0;
    library.watch(() => heard++);
    put(root, { 'new.gguf': 'n' });
    await library.refresh();
    expect(heard).toBe(1);
    await library.identified();
    expect(heard).toBe(2);
    await library.refresh();
    expect(heard).toBe(2);
  });
});

describe('names', () => {
  it('models that clash get different names that stay, the one that ships keeps its own', async () => {
    const root = folder({ 'one/starter.gguf': '1', 'two/starter.gguf': '2' });
    const shipped = folder({ 'starter.gguf': 's' });
    const library = await libraryOf(root, fakeProbe(), [join(shipped, 'starter.gguf')]);
    const first = names(library);
    expect(first[0]).toBe('starter');
    expect(first.slice(1).every((name) => /^starter@[0-9a-f]{6}$/.test(name))).toBe(true);
    expect(new Set(first).size).toBe(3);
    await library.refresh();
    expect(names(library)).toEqual(first);
  });

  it.each([
    ['/m/GPT-OSS-20b-mxfp4.gguf', false, 'gpt-oss-20b-mxfp4'],
    ['/m/big-00001-of-00003.gguf', false, 'big'],
    ['/m/SmolLM2-135M', true, 'smollm2-135m'],
    ['/m/two words.gguf', false, 'two-words'],
    ['/m/\u202e\u0007.gguf', false, 'model'],
  ])('%s is called as it should', (path, isFolder, name) => {
    expect(plainName(path, isFolder)).toBe(name);
  });

  it('a file that cannot be loaded is no near match', async () => {
    const root = folder({ 'noise.gguf': '', 'second.gguf': '' });
    const library = await libraryOf(
      root,
      fakeProbe((path) => (path.includes('noise') ? 'It is damaged.' : undefined)),
    );
    await library.identified();
    expect(() => library.find('noose')).toThrow(/Models here: second\./);
  });

  it('a wrong name is answered with the near ones', async () => {
    const root = folder({ 'gpt-oss-20b.gguf': '', 'gpt-oss-120b.gguf': '', 'smollm2.gguf': '' });
    const library = await libraryOf(root);
    expect(library.find('GPT-OSS-20B.gguf').name).toBe('gpt-oss-20b');
    const wrong = (name: string) => {
      try {
        library.find(name);
      } catch (error) {
        return error as HearthError;
      }
      throw new Error('found');
    };
    expect(wrong('gpt-oss-20')).toMatchObject({ code: 'model_not_found', status: 404, param: 'model' });
    expect(wrong('gpt-oss-2ob').message).toMatch(/Did you mean gpt-oss-20b/);
    expect(wrong('oss').message).toMatch(/gpt-oss-20b.*gpt-oss-120b|gpt-oss-120b.*gpt-oss-20b/);
    expect(wrong('unlike anything here').message).toMatch(/Models here: .*smollm2/);
    expect(wrong('x'.repeat(1_000_000)).message.length).toBeLessThan(400);
  });

  it.each([
    '../../../../etc/passwd',
    '/etc/passwd',
    '..\\..\\secrets.gguf',
    'file:///etc/passwd',
    'a.gguf/../a.gguf',
    '',
  ])('the name %j opens no file', async (name) => {
    const library = await libraryOf(folder({ 'a.gguf': 'a' }));
    expect(() => library.find(name)).toThrow(/There is no model called/);
  });

  it('distances are right and bounded', () => {
    expect(editDistance('kitten', 'sitting', 5)).toBe(3);
    expect(editDistance('abc', 'abc', 0)).toBe(0);
    expect(editDistance('abc', 'xyz', 1)).toBe(2);
    expect(nearNames('lama', ['llama', 'gpt'])).toEqual(['llama']);
  });
});

describe('opening by path', () => {
  it('opens a file that is in no folder, lists it, and does not list it twice', async () => {
    const elsewhere = folder({ 'mine.gguf': 'm' });
    const library = await libraryOf(folder({ 'a.gguf': 'a' }));
    const model = await library.open(join(elsewhere, 'mine.gguf'));
    expect(model.info?.modelId).toBe(`id of ${join(elsewhere, 'mine.gguf')}`);
    await library.open(join(elsewhere, 'mine.gguf'));
    await library.refresh();
    expect(names(library)).toEqual(['a', 'mine']);
  });

  it('any part of a split model opens the model', async () => {
    const root = folder({ 'big-00001-of-00002.gguf': 'aa', 'big-00002-of-00002.gguf': 'bbb' });
    const library = await libraryOf(folder());
    expect((await library.open(join(root, 'big-00002-of-00002.gguf'))).path).toBe(
      join(root, 'big-00001-of-00002.gguf'),
    );
  });

  it('a model of the list is the same model by its path', async () => {
    const root = folder({ 'a.gguf': 'a' });
    const library = await libraryOf(root);
    expect((await library.open(join(root, 'a.gguf'))).name).toBe('a');
    expect(names(library)).toEqual(['a']);
  });

  it('a path with nothing there is file_not_found', async () => {
    const library = await libraryOf(folder());
    await expect(library.open('/nowhere/model.gguf')).rejects.toMatchObject({ code: 'file_not_found' });
  });
});

describe('the first look', () => {
  it('a question that comes before it waits for it', async () => {
    const root = folder({ 'a.gguf': 'a' });
    const library = createLibrary({ own: root, probe: fakeProbe() });
    await library.ready();
    expect(library.find('a').name).toBe('a');
  });
});
