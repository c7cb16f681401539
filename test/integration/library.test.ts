// The library of a whole Hearth with the real engine: other programs' folders used where they are, files that come and go, moves.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../electron/app';
import { main } from '../../electron/cli/command';
import { modelEntry, type ModelEntry } from '../../electron/contract/own';
import { folder, sha256, treeHash } from '../unit/library/files';
import { missing, modelPath } from './engine-model';

type Json = Record<string, unknown>;

async function hearth(dataDir: string) {
  const app = await startApp({ dataDir, port: 0 });
  onTestFinished(() => app.close());
  const call = async (method: string, path: string, body?: Json): Promise<Json & { status: number }> => {
    const response = await fetch(`${app.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { ...(text === '' ? {} : (JSON.parse(text) as Json)), status: response.status };
  };
  const models = async (): Promise<ModelEntry[]> =>
    ((await call('GET', '/hearth/v1/models')).models as unknown[]).map((entry) => modelEntry.parse(entry));
  return { app, call, models };
}

async function eventually<T>(look: () => Promise<T | undefined>, ms = 60_000): Promise<T> {
  for (const end = Date.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error('It did not happen in time.');
  }
}

async function command(...argv: string[]) {
  let out = '';
  let err = '';
  const io = { out: (text: string) => void (out += text), err: (text: string) => void (err += text), terminal: false };
  return { code: await main(argv, io), out, err };
}

function ollamaWith(file: string): string {
  const digest = sha256(readFileSync(file));
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}`, size: 1 }];
  const root = folder({ 'manifests/registry.ollama.ai/library/tiny/1b': JSON.stringify({ layers }) });
  mkdirSync(join(root, 'blobs'));
  copyFileSync(file, join(root, `blobs/sha256-${digest}`));
  return root;
}

describe.skipIf(missing)('the library', () => {
  it("a blob of Ollama's answers where it lies, and its folder stays as it was", { timeout: 240_000 }, async () => {
    const dataDir = folder();
    const theirs = ollamaWith(modelPath);
    const before = treeHash(theirs);
    const { call, models } = await hearth(dataDir);
    const added = await call('POST', '/hearth/v1/folders', { path: theirs });
    expect(added).toMatchObject({ status: 201, kind: 'ollama', models: 1 });
    const entry = await eventually(async () => (await models()).find(({ name, info }) => name === 'tiny:1b' && info));
    expect(entry).toMatchObject({ folder: 'ollama', info: { context: expect.any(Number) }, abilities: { chat: true } });
    const answer = await call('POST', '/v1/chat/completions', {
      model: 'tiny:1b',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 8,
    });
    expect(answer).toMatchObject({ status: 200, usage: { completion_tokens: expect.any(Number) } });
    expect((await models()).find(({ name }) => name === 'tiny:1b')?.lastUsedAt).toBeGreaterThan(0);

    const listed = await command('ls', '--data-dir', dataDir);
    expect(listed.out).toMatch(/tiny:1b .* ollama /);
    const refused = await command('rm', 'tiny:1b', '--yes', '--json', '--data-dir', dataDir);
    expect([refused.code, JSON.parse(refused.out).error.code]).toEqual([1, 'not_owned']);
    await call('POST', '/hearth/v1/models/unload', {});
    const verified = await eventually(async () =>
      (await models()).find(({ name, verification }) => name === 'tiny:1b' && verification?.state === 'matches'),
    );
    expect(Object.values(verified.verification?.sha256 ?? {})).toEqual([sha256(readFileSync(modelPath))]);
    await call('DELETE', `/hearth/v1/folders/${String(added.id)}`);
    expect((await models()).some(({ name }) => name === 'tiny:1b')).toBe(false);
    expect(treeHash(theirs)).toBe(before);
  });

  it(
    'a file that is dropped in appears; models and chats move; a restart finds them; rm deletes',
    { timeout: 240_000 },
    async () => {
      const dataDir = folder();
      const first = await hearth(dataDir);
      await eventually(async () => ((await first.models()).length > 0 ? true : undefined));
      const models = join(dataDir, 'models');
      copyFileSync(modelPath, join(models, 'dropped.gguf'));
      await eventually(async () => (await first.models()).find(({ name, info }) => name === 'dropped' && info));
      await first.call('POST', '/hearth/v1/chats', { title: 'Kept' });

      await eventually(async () => {
        await first.call('POST', '/hearth/v1/models/unload', {});
        return (await first.call('GET', '/hearth/v1/state')).active === undefined ? true : undefined;
      });
      const elsewhere = folder();
      for (const what of ['models', 'chats']) {
        const begun = await first.call('POST', '/hearth/v1/moves', { what, to: join(elsewhere, what) });
        expect(begun).toMatchObject({ status: 202, what });
        await eventually(async () => {
          const { moves } = await first.call('GET', '/hearth/v1/moves');
          const move = (moves as { what: string; phase: string; error?: unknown }[]).find((one) => one.what === what);
          if (move?.phase === 'failed') throw new Error(JSON.stringify(move));
          return move?.phase === 'done' ? true : undefined;
        });
      }
      expect((await first.models()).find(({ name }) => name === 'dropped')?.path).toBe(
        join(elsewhere, 'models/dropped.gguf'),
      );
      await first.app.close();

      // Without a running Hearth: what was learnt is in the database, wherever that is.
      const { models: listed } = JSON.parse((await command('ls', '--json', '--data-dir', dataDir)).out) as {
        models: Json[];
      };
      expect(listed.find(({ name }) => name === 'dropped')).toMatchObject({
        folder: 'own',
        info: { architecture: expect.any(String) },
      });
      const asked = await command('rm', 'dropped', '--data-dir', dataDir);
      expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('--yes')]);
      expect((await command('rm', 'dropped', '--yes', '--data-dir', dataDir)).code).toBe(0);

      const again = await hearth(dataDir);
      expect((await again.call('GET', '/hearth/v1/chats')).chats).toMatchObject([{ title: 'Kept' }]);
      expect((await again.models()).some(({ name }) => name === 'dropped')).toBe(false);
    },
  );
});
