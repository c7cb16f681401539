// /hearth/v1 over HTTP: state, models, settings, chats.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createNetServer } from 'node:net';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadPlan } from '../../../electron/contract/models';
import {
  appState,
  chat as chatSchema,
  modelEntry,
  settings as settingsSchema,
  type ModelEntry,
} from '../../../electron/contract/own';
import { createServer } from '../../../electron/server/server';
import { titleOf } from '../../../electron/server/turns/title';
import { planFor } from '../supervisor/plans';
import { endless, sleep } from './fake-supervisor';
import { ask, authorized, chat, eventsOf, libraryModel, listLibrary, own, startServer } from './harness';

describe('state', () => {
  it('is what the contract says, with and without a model', async () => {
    const server = await startServer();
    const empty = appState.parse((await own(server, 'GET', '/state')).body);
    expect(empty).toMatchObject({ version: '0.0.1', url: server.url, running: 0 });
    expect(empty.active).toBeUndefined();
    await server.supervisor.load({ name: 'gpt-oss-20b', path: '' });
    await chat(server, {});
    const full = appState.parse((await own(server, 'GET', '/state')).body);
    expect(full).toMatchObject({
      engineBuild: 'build-1',
      active: { name: 'gpt-oss-20b', state: 'ready' },
      requestsServed: 1,
      lastDecodeTps: 42,
    });
  });

  it('changes are told, at most one a second, and silence is silent', async () => {
    const server = await startServer();
    let raw = '';
    const request = httpRequest(
      { host: '127.0.0.1', port: server.port, path: '/hearth/v1/state/events', headers: authorized },
      (response) => response.on('data', (chunk: Buffer) => (raw += chunk.toString())),
    );
    request.on('error', () => undefined);
    request.end();
    await sleep(200);
    for (const fraction of [0.1, 0.2, 0.3, 0.9])
      server.supervisor.change({ name: 'plain', state: 'loading', fraction });
    await sleep(1300);
    const events = eventsOf(raw).map((event) => appState.parse(event));
    expect(events.map((event) => event.active?.fraction)).toEqual([undefined, 0.9]);
    await sleep(1200);
    expect(eventsOf(raw).length).toBe(2);
    request.destroy();
  });

  it('devices come with the reasons for those that are missing', async () => {
    const server = await startServer();
    expect((await own(server, 'GET', '/devices')).body).toEqual({ devices: [], notes: ['no GPU'] });
  });
});

describe('models', () => {
  it('are listed, broken ones too, with their state', async () => {
    const server = await startServer();
    server.supervisor.change({ name: 'plain', state: 'loading' });
    const { body } = await own(server, 'GET', '/models');
    const entries = body.models.map((entry: unknown) => modelEntry.parse(entry));
    expect(entries.map((entry: { name: string; state: string }) => [entry.name, entry.state])).toEqual([
      ['gpt-oss-20b', 'available'],
      ['plain', 'loading'],
      ['broken', 'failed'],
    ]);
    expect(entries[2].error.code).toBe('bad_file');
    expect((await own(server, 'POST', '/models/refresh')).body.models.length).toBe(3);
  });

  it('a load that failed is told beside the model that serves, and of the model that failed', async () => {
    const server = await startServer();
    server.supervisor.change({ name: 'gpt-oss-20b', state: 'ready' });
    server.supervisor.failure = { model: 'plain', error: { code: 'out_of_ram', message: 'No room.' }, at: 5 };
    const state = appState.parse((await own(server, 'GET', '/state')).body);
    expect(state.active?.error).toBeUndefined();
    expect(state.failed).toMatchObject({ model: 'plain', error: { code: 'out_of_ram' } });
    const { models } = (await own(server, 'GET', '/models')).body;
    expect(models.map(({ name, state: now, error }: ModelEntry) => [name, now, error?.code])).toEqual([
      ['gpt-oss-20b', 'ready', undefined],
      ['plain', 'failed', 'out_of_ram'],
      ['broken', 'failed', 'bad_file'],
    ]);
  });

  it('are told with whether they fit, but for those that are broken or not looked at yet', async () => {
    const server = await startServer();
    server.supervisor.known = async ({ name }) => {
      if (name === 'plain') await new Promise(() => undefined);
      return { plan: planFor(name, 12), experience: { decodeTps: 9 } };
    };
    const { models } = (await own(server, 'GET', '/models')).body;
    expect(models.map(({ name, fit }: ModelEntry) => [name, fit?.verdict, fit?.decodeTps])).toEqual([
      ['gpt-oss-20b', 'too_big', 9],
      ['plain', undefined, undefined],
      ['broken', undefined, undefined],
    ]);
  });

  it('of a model elsewhere there is nothing to plan, and that is said', async () => {
    const far = libraryModel('far', { remote: 'id-of-engine', engine: 'Cluster', info: undefined, fileBytes: 0 });
    const server = await startServer({ library: listLibrary([far]) });
    const reply = await own(server, 'GET', '/models/plan?model=far');
    expect(loadPlan.parse(reply.body)).toMatchObject({ model: 'far', choices: [], unloads: [], remote: 'Cluster' });
  });

  it('a load answers for the model that was asked for while another is in the foreground', async () => {
    const server = await startServer();
    // As while the one before ends its answers: it stays in the foreground for a moment.
    server.supervisor.change({ name: 'other', state: 'ready' });
    server.supervisor.load = () => new Promise(() => undefined);
    const reply = await own(server, 'POST', '/models/load', { model: 'plain' });
    expect([reply.body.name, reply.body.state]).toEqual(['plain', 'loading']);
  });

  it('a load is begun at once, remembered, and refused for what cannot be loaded', async () => {
    const server = await startServer();
    const reply = await own(server, 'POST', '/models/load', { model: 'plain' });
    expect([reply.status, reply.body.name]).toEqual([202, 'plain']);
    await sleep(20);
    expect((await own(server, 'GET', '/settings')).body.lastModel).toBe('plain');
    expect((await own(server, 'POST', '/models/load', { model: 'broken' })).body.error.code).toBe('bad_file');
    expect((await own(server, 'POST', '/models/load', { model: '/etc/passwd' })).body.error.code).toBe(
      'model_not_found',
    );
    expect((await own(server, 'POST', '/models/load', {})).body.error).toMatchObject({
      code: 'invalid_request',
      param: 'model',
    });
    expect((await own(server, 'POST', '/models/unload')).status).toBe(204);
    expect(server.supervisor.active()).toBeUndefined();
  });

  it('the wishes of a load reach it, and nothing but a wish that can be one', async () => {
    const server = await startServer();
    await own(server, 'POST', '/models/load', { model: 'plain', context: 2048, kvType: 'q8' });
    expect(server.supervisor.wishes).toEqual([{ context: 2048, kvType: 'q8' }]);
    expect((await own(server, 'POST', '/models/load', { model: 'plain', context: -1 })).status).toBe(400);
  });

  it('the button ends a load, and a model is unloaded by its name', async () => {
    const server = await startServer();
    expect((await own(server, 'POST', '/models/load/cancel')).status).toBe(204);
    expect(server.supervisor.loadsGivenUp).toBe(1);
    await own(server, 'POST', '/models/load', { model: 'plain' });
    const unknown = await own(server, 'POST', '/models/unload', { model: 'plane' });
    expect(unknown.body.error).toMatchObject({ code: 'model_not_found' });
    expect(unknown.body.error.message).toContain('plain');
    expect((await own(server, 'POST', '/models/unload', { model: 'plain' })).status).toBe(204);
    expect(server.supervisor.active()).toBeUndefined();
  });

  it('the time after which idle models go is the one of the settings, at once', async () => {
    const server = await startServer();
    expect(server.supervisor.idleMinutes).toBe(0);
    await own(server, 'PATCH', '/settings', { idleUnloadMinutes: 10 });
    expect(server.supervisor.idleMinutes).toBe(10);
  });
});

describe('settings', () => {
  it('a change of one leaves the others', async () => {
    const server = await startServer();
    await own(server, 'PATCH', '/settings', { theme: 'dark', chat: { effort: 'high', instructions: 'Sing.' } });
    await own(server, 'PATCH', '/settings', { language: 'zh-CN', chat: { effort: 'low' } });
    const now = settingsSchema.parse((await own(server, 'GET', '/settings')).body);
    expect(now).toMatchObject({ theme: 'dark', language: 'zh-CN', chat: { effort: 'low', instructions: 'Sing.' } });
  });

  it.each([{ theme: 'pink' }, { chat: { effort: 'none' } }, { allowedOrigins: 'x' }, [], 'x'])(
    '%j is refused',
    async (body) => {
      const server = await startServer();
      const reply = await own(server, 'PATCH', '/settings', body as object);
      expect(reply.status).toBe(400);
      expect(reply.body.error.code).toBe('invalid_request');
    },
  );

  it('are those of new chats', async () => {
    const server = await startServer();
    await own(server, 'PATCH', '/settings', { chat: { memory: 'turns3' } });
    const { body } = await own(server, 'POST', '/chats', { settings: { effort: 'low' } });
    expect(chatSchema.parse(body).settings).toMatchObject({ memory: 'turns3', effort: 'low' });
  });
});

describe('chats', () => {
  it('are made, found, renamed, deleted and taken back', async () => {
    const server = await startServer();
    const { body: made, status } = await own(server, 'POST', '/chats', { title: 'Boats' });
    expect(status).toBe(201);
    await own(server, 'POST', '/chats');
    expect((await own(server, 'GET', '/chats?q=boat')).body.chats.map((one: { id: string }) => one.id)).toEqual([
      made.id,
    ]);
    expect((await own(server, 'PATCH', `/chats/${made.id}`, { title: 'Ships' })).body.title).toBe('Ships');
    expect((await own(server, 'DELETE', `/chats/${made.id}`)).status).toBe(204);
    expect((await own(server, 'GET', '/chats')).body.chats.length).toBe(1);
    expect((await own(server, 'GET', '/chats?deleted=1')).body.chats.length).toBe(1);
    expect((await own(server, 'POST', `/chats/${made.id}/restore`)).body.title).toBe('Ships');
    expect((await own(server, 'GET', '/chats')).body.chats.length).toBe(2);
  });

  it.each([
    ['GET', '/chats/none', undefined, 404],
    ['PATCH', '/chats/none', { title: 'x' }, 404],
    ['DELETE', '/chats/none', undefined, 404],
    ['POST', '/chats/none/restore', undefined, 404],
    ['POST', '/chats/none/turns', { text: 'x' }, 404],
    ['GET', '/turns/none/events', undefined, 404],
    ['GET', '/turns/none/events?cursor=-1', undefined, 400],
    ['POST', '/chats/none/turns', { text: '' }, 400],
    ['POST', '/chats/none/turns', {}, 400],
    ['POST', '/chats', { title: 'x'.repeat(201) }, 400],
  ])('%s %s with %j is a typed error', async (method, path, body, status) => {
    const server = await startServer();
    const reply = await own(server, method, path, body);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  });

  it.each([
    ['What floats?', 'What floats?'],
    ['\n\n  # Heading  with   gaps\nmore', 'Heading with gaps'],
    ['one two three four five six seven eight nine ten eleven twelve', 'one two three four five six seven eight nine…'],
    ['漁'.repeat(60), `${'漁'.repeat(48)}…`],
    ['```', ''],
    ['   \n\t', ''],
    ['🧑‍🚀'.repeat(3), '🧑‍🚀'.repeat(3)],
  ])('%j is called %j', (text, title) => {
    expect(titleOf(text)).toBe(title);
  });
});

describe('the page', () => {
  async function withPage() {
    const root = mkdtempSync(join(tmpdir(), 'hearth-page-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    mkdirSync(join(root, 'page/assets'), { recursive: true });
    writeFileSync(join(root, 'page/index.html'), '<!doctype html><title>Hearth</title>');
    writeFileSync(join(root, 'page/assets/index-Ab3dE5_x.js'), 'export {};');
    writeFileSync(join(root, 'secret.txt'), 'secret');
    symlinkSync(join(root, 'secret.txt'), join(root, 'page/.hidden'));
    return startServer({ staticDir: join(root, 'page') });
  }

  it('is served without a token, may load nothing from elsewhere, and is asked for anew', async () => {
    const server = await withPage();
    const { status, headers, raw } = await ask(server, 'GET', '/');
    expect([status, raw]).toEqual([200, '<!doctype html><title>Hearth</title>']);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(raw).not.toContain('token-of-the-app');
  });

  it('its hashed files are kept for ever', async () => {
    const server = await withPage();
    const { status, headers } = await ask(server, 'GET', '/assets/index-Ab3dE5_x.js');
    expect(status).toBe(200);
    expect(headers['cache-control']).toMatch(/immutable/);
    expect(headers['content-type']).toMatch(/javascript/);
  });

  it.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/.hidden',
    '/assets/',
    '/nothing.js',
    '/..%5csecret.txt',
    '/%00',
  ])('%s gives no file', async (path) => {
    const server = await withPage();
    const { status, raw } = await ask(server, 'GET', path);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(raw).not.toMatch(/^secret/);
  });

  it('it does not stand in for addresses of the API', async () => {
    const server = await withPage();
    for (const path of ['/v1/nothing', '/hearth/v1/nothing']) {
      const reply = await ask(server, 'GET', path, { headers: authorized });
      expect(reply.status).toBe(404);
      expect(reply.headers['content-type']).toMatch(/json/);
    }
  });
});

describe('listening', () => {
  it('is on both loopback addresses and on no other', async () => {
    const server = await startServer();
    const at = (host: string) =>
      new Promise<number>((resolve) => {
        const request = httpRequest({ host, port: server.port, path: '/health' }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        request.on('error', () => resolve(0));
        request.end();
      });
    expect(await at('127.0.0.1')).toBe(200);
    // A machine without IPv6 has only the first one.
    expect([200, 0]).toContain(await at('::1'));
    expect(await at('127.0.0.2')).toBe(0);
  });

  it('a port that is taken is named, and the next free one is used where that is wanted', async () => {
    const first = await startServer();
    const blocker = createNetServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void blocker.close());
    const taken = (blocker.address() as { port: number }).port;
    const server = await createServer(first.options);
    onTestFinished(() => server.close());
    await expect(server.listen(taken)).rejects.toMatchObject({
      code: 'port_in_use',
      message: expect.stringContaining(String(taken)),
    });
    const { port, url } = await server.listen(taken, { nextFree: true });
    expect(port).toBeGreaterThan(taken);
    expect((await ask({ port }, 'GET', '/health')).status).toBe(200);
    expect(url).toBe(`http://127.0.0.1:${port}`);
  });

  it('closing ends open streams and lets go of the port', async () => {
    const server = await startServer();
    server.supervisor.script = endless;
    const ended = new Promise<void>((resolve) => {
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port: server.port,
          path: '/v1/chat/completions',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        },
        (response) => {
          response.resume();
          response.on('close', resolve);
          response.on('error', () => resolve());
        },
      );
      request.on('error', () => resolve());
      request.end(JSON.stringify({ model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'x' }], stream: true }));
    });
    await sleep(100);
    await server.close();
    await ended;
    await expect(ask(server, 'GET', '/health')).rejects.toThrow(/ECONNREFUSED/);
  });
});
