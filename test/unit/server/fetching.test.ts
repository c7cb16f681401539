// The routes of discovery, downloads and connections, and the settings that belong to them: what is passed on, and what never comes back.
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import type { Download } from '../../../electron/contract/models';
import { hubOrigin } from '../../../electron/library/network/addresses';
import type { Fetching } from '../../../electron/server/types';
import { ask, startServer, TOKEN } from './harness';

const download: Download = {
  id: 'one',
  source: 'hub',
  repo: 'a/b',
  file: 'f.gguf',
  phase: 'fetching',
  doneBytes: 1,
  totalBytes: 2,
  bytesPerSecond: 0,
};

function scripted() {
  const calls: unknown[][] = [];
  const told =
    <T>(name: string, answer: T) =>
    (...args: unknown[]) => {
      calls.push([name, ...args]);
      return Promise.resolve(answer);
    };
  let set = false;
  let watcher: () => void = () => undefined;
  const fetching = {
    discover: {
      search: told('search', { models: [] }),
      repository: told('repository', { repo: 'a/b', title: 'b', gated: false, featured: false }),
    },
    downloads: {
      list: () => [download],
      get: () => download,
      start: told('start', download),
      import: told('import', [download]),
      importFrom: told('importFrom', download),
      pause: told('pause', download),
      resume: told('resume', download),
      cancel: async (id: string) => {
        if (id !== 'one') throw new HearthError('not_found', 'There is no such download.');
      },
      watch: (listener: () => void) => {
        watcher = listener;
        return () => undefined;
      },
      open: async () => undefined,
      read: async () => undefined,
      close: async () => undefined,
    },
    peers: { models: told('peer', []) },
    ledger: { list: () => [{ at: 1, count: 2, host: 'h', purpose: 'search', detail: 'd', bytes: 3, outcome: 'ok' }] },
    token: {
      get isSet() {
        return set;
      },
      set: async (token: string, hub: string) => {
        calls.push(['token', token, hub]);
        set = true;
      },
      clear: async () => {
        set = false;
      },
    },
    hub: ({ hubMirror }: { hubMirror: string }) => hubOrigin(hubMirror || 'https://huggingface.co'),
  } satisfies Fetching as Fetching;
  return { calls, fetching, tell: () => watcher() };
}

async function server() {
  const { calls, fetching } = scripted();
  const harness = await startServer({ fetching });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const own = (method: string, path: string, body?: object) =>
    ask(harness, method, `/hearth/v1${path}`, { headers, ...(body && { body }) });
  return { calls, own, harness };
}

describe('downloads over the API', () => {
  it('are begun, paused, gone on with and called off', async () => {
    const { own, calls } = await server();
    expect((await own('POST', '/downloads', { repo: 'a/b', file: 'f.gguf' })).status).toBe(201);
    expect((await own('POST', '/downloads/one/pause')).body).toEqual(download);
    expect((await own('POST', '/downloads/one/resume')).status).toBe(200);
    expect((await own('DELETE', '/downloads/one')).status).toBe(204);
    expect((await own('DELETE', '/downloads/two')).status).toBe(404);
    expect((await own('GET', '/downloads')).body).toEqual({ downloads: [download] });
    expect((await own('POST', '/imports', { path: '/disk' })).body).toEqual({ downloads: [download] });
    expect((await own('GET', '/state')).body.downloads).toEqual([download]);
    const peer = { url: 'http://10.0.0.7:4327/v1', key: 'k' };
    expect((await own('POST', '/imports/hearth/models', peer)).body).toEqual({ models: [] });
    expect((await own('POST', '/imports/hearth', { ...peer, model: 'm' })).status).toBe(201);
    expect((await own('POST', '/imports/hearth/models', { url: 'ftp://x' })).body.error).toMatchObject({
      param: 'url',
    });
    expect(calls).toEqual([
      ['start', { repo: 'a/b', file: 'f.gguf' }],
      ['pause', 'one'],
      ['resume', 'one'],
      ['import', '/disk'],
      ['peer', 'http://10.0.0.7:4327', 'k'],
      ['importFrom', { ...peer, model: 'm' }],
    ]);
  });

  it.each([
    ['/downloads', { repo: 'a/b/c', file: 'x' }],
    ['/downloads', { repo: 'https://evil.test', file: 'x' }],
    ['/downloads', { repo: 'a/b', file: '' }],
    ['/imports', {}],
  ])('POST %s with %j is refused by its field', async (path, body) => {
    const { own, calls } = await server();
    expect((await own('POST', path, body)).status).toBe(400);
    expect(calls).toEqual([]);
  });

  it('are nobody’s without the app’s token', async () => {
    const { harness } = await server();
    for (const path of ['/downloads', '/discover?q=x', '/connections'])
      expect((await ask(harness, 'GET', `/hearth/v1${path}`)).status).toBe(401);
  });
});

describe('discovery over the API', () => {
  it('searches, and asks for one repository', async () => {
    const { own, calls } = await server();
    expect((await own('GET', '/discover?q=%20gpt-oss%20&cursor=c')).body).toEqual({ models: [] });
    expect((await own('GET', '/discover')).status).toBe(200);
    expect((await own('GET', '/discover/repo?repo=a/b')).body.repo).toBe('a/b');
    expect((await own('GET', '/discover/repo?repo=../b/c')).status).toBe(400);
    expect(calls).toEqual([
      ['search', 'gpt-oss', 'c'],
      ['search', '', undefined],
      ['repository', 'a/b'],
    ]);
  });

  it('tells every connection', async () => {
    const { own } = await server();
    expect((await own('GET', '/connections')).body.connections).toHaveLength(1);
  });
});

describe('the token of the hub', () => {
  it('is bound to the hub of the same settings, and never given back', async () => {
    const { own, calls } = await server();
    expect((await own('GET', '/settings')).body.hubTokenSet).toBe(false);
    const set = await own('PATCH', '/settings', { hubToken: ' hf_secret ', hubMirror: 'https://mirror.test/' });
    expect(set.body.hubTokenSet).toBe(true);
    expect(set.raw + (await own('GET', '/settings')).raw).not.toContain('hf_secret');
    expect(calls).toEqual([['token', 'hf_secret', 'https://mirror.test']]);
    expect((await own('PATCH', '/settings', { hubToken: '' })).body.hubTokenSet).toBe(false);
  });

  it.each([
    [{ hubToken: 'two words' }, 'hubToken'],
    [{ hubToken: 'line\nbreak' }, 'hubToken'],
    [{ hubMirror: 'ftp://x' }, 'hubMirror'],
    [{ proxy: 'localhost:8080' }, 'proxy'],
  ])('%j is refused', async (body, param) => {
    const { own } = await server();
    const reply = await own('PATCH', '/settings', body);
    expect(reply.status).toBe(400);
    expect(reply.body.error.param).toBe(param);
  });
});
