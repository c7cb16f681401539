// Folders, aliases, removal and moves over HTTP, with a real library over real folders.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appState, modelEntry, settings } from '../../../electron/contract/own';
import { modelFolder } from '../../../electron/contract/models';
import { createLibrary } from '../../../electron/library/library';
import { fakeProbe, folder, treeHash } from '../library/files';
import { chat, own, startServer } from './harness';

async function serverWith(files: Record<string, string>) {
  const root = folder(files);
  const library = createLibrary({ own: root, probe: fakeProbe(), places: [] });
  onTestFinished(() => library.close());
  await library.refresh();
  await library.identified();
  const server = await startServer({ library });
  const names = async () => {
    const { body } = await own(server, 'GET', '/models');
    return (body.models as unknown[]).map((entry) => modelEntry.parse(entry)).map(({ name }) => name);
  };
  return { root, server, names };
}

describe('folders', () => {
  it('are added, listed, kept in the settings, and forgotten with nothing deleted', async () => {
    const { server, names } = await serverWith({ 'a.gguf': 'a' });
    const theirs = folder({ 'b.gguf': 'bb' });
    const before = treeHash(theirs);
    const added = await own(server, 'POST', '/folders', { path: theirs });
    expect(added.status).toBe(201);
    expect(modelFolder.parse(added.body)).toMatchObject({
      path: theirs,
      kind: 'user',
      models: 1,
      bytes: 2,
      present: true,
    });
    expect(await names()).toEqual(['a', 'b']);
    const { body } = await own(server, 'GET', '/folders');
    expect(body.folders.map(({ kind }: { kind: string }) => kind)).toEqual(['own', 'user']);
    expect(settings.parse((await own(server, 'GET', '/settings')).body).modelFolders.length).toBe(1);
    expect((await own(server, 'DELETE', `/folders/${added.body.id}`)).status).toBe(204);
    expect(await names()).toEqual(['a']);
    expect(treeHash(theirs)).toBe(before);
    expect((await own(server, 'DELETE', `/folders/${added.body.id}`)).status).toBe(404);
    expect((await own(server, 'DELETE', '/folders/own')).status).toBe(404);
  });

  it('two at once are both there', async () => {
    const { server, names } = await serverWith({});
    const folders = [folder({ 'b.gguf': 'b' }), folder({ 'c.gguf': 'c' })];
    await Promise.all(folders.map((path) => own(server, 'POST', '/folders', { path })));
    expect((await names()).sort()).toEqual(['b', 'c']);
  });

  it.each([
    [{}, 400],
    [{ path: '' }, 400],
    [{ path: 'relative/x' }, 400],
    [{ path: '/no/such/folder' }, 404],
    [{ path: '\0' }, 404],
  ])('%j is refused', async (body, status) => {
    const { server } = await serverWith({});
    const reply = await own(server, 'POST', '/folders', body);
    // A path with a zero is no whole path on some systems and no folder on others.
    expect(status === 404 ? [400, 404] : [status]).toContain(reply.status);
  });

  it('cannot be slipped in with the settings, as ours least of all', async () => {
    const { root, server } = await serverWith({ 'a.gguf': 'a' });
    const theirs = folder({ 'b.gguf': 'b' });
    const modelFolders = [{ id: 'x', path: theirs, kind: 'own' }];
    await own(server, 'PATCH', '/settings', { modelFolders, aliases: { b: 'a' } });
    const { modelFolders: kept, aliases } = settings.parse((await own(server, 'GET', '/settings')).body);
    expect([kept, aliases]).toEqual([[], {}]);
    expect(readdirSync(root)).toEqual(['a.gguf']);
  });
});

describe('a model on disk', () => {
  it('is removed with its aliases, but not while it is loaded', async () => {
    const { root, server, names } = await serverWith({ 'a.gguf': 'a', 'b.gguf': 'b' });
    const alias = await own(server, 'POST', '/models/alias', { model: 'a', alias: 'Short' });
    expect(modelEntry.parse(alias.body)).toMatchObject({ name: 'a', aliases: ['short'] });
    await server.supervisor.load({ name: 'a', path: join(root, 'a.gguf') });
    const refused = await own(server, 'POST', '/models/remove', { model: 'short' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'model_in_use']);
    await server.supervisor.unload();
    expect((await own(server, 'POST', '/models/remove', { model: 'short' })).status).toBe(204);
    expect([await names(), existsSync(join(root, 'a.gguf'))]).toEqual([['b'], false]);
    expect(settings.parse((await own(server, 'GET', '/settings')).body).aliases).toEqual({});
  });

  it('answers to its alias in the API, and an empty alias takes it away', async () => {
    const { server } = await serverWith({ 'a.gguf': 'a' });
    await own(server, 'POST', '/models/alias', { model: 'a', alias: 'gpt-4o' });
    expect((await chat(server, { model: 'gpt-4o' })).status).toBe(200);
    expect(server.supervisor.last.model.name).toBe('a');
    expect((await own(server, 'POST', '/models/alias', { model: 'a', alias: 'a' })).status).toBe(400);
    await own(server, 'POST', '/models/alias', { model: 'a', alias: '' });
    expect((await chat(server, { model: 'gpt-4o' })).status).toBe(404);
  });

  it('tells when it was used and how fast, once an answer was long enough to tell', async () => {
    const { server } = await serverWith({ 'a.gguf': 'a' });
    await chat(server, { model: 'a' });
    const [entry] = (await own(server, 'GET', '/models')).body.models;
    // The script's answers have seven tokens.
    expect([entry.decodeTps, typeof entry.lastUsedAt]).toEqual([undefined, 'number']);
  });

  it('a change of the list is a new number in the state', async () => {
    const { root, server } = await serverWith({ 'a.gguf': 'a' });
    const version = async () => appState.parse((await own(server, 'GET', '/state')).body).modelsVersion;
    const before = await version();
    writeFileSync(join(root, 'b.gguf'), 'b');
    await own(server, 'POST', '/models/refresh', {});
    expect(await version()).toBeGreaterThan(before);
  });
});

describe('moves', () => {
  it('are not there where nothing can be moved', async () => {
    const { server } = await serverWith({});
    expect((await own(server, 'GET', '/moves')).body).toEqual({ locations: [], moves: [] });
    expect((await own(server, 'POST', '/moves', { what: 'models', to: '/x' })).status).toBe(404);
    expect((await own(server, 'POST', '/moves', { what: 'everything', to: '/x' })).status).toBe(400);
  });
});
