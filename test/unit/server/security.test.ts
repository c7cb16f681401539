// Who gets in: names, origins, keys, for every address there is.
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isLoopbackHost, hostOf } from '../../../electron/server/security/hosts';
import { normalOrigin, originKind } from '../../../electron/server/security/origins';
import { hashKey, sameSecret } from '../../../electron/server/security/access';
import { ROUTES } from '../../../electron/contract/routes';
import { ask, authorized, chat, startServer, TOKEN } from './harness';

describe('host names', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST', '127.0.0.1:1', 'localhost:65535', '[::1]:8080'])(
    '%s is ours',
    (host) => {
      expect(isLoopbackHost(host)).toBe(true);
    },
  );

  it.each([
    'rebind.example',
    'rebind.example:8080',
    'localhost.evil.example',
    'evil.example.localhost',
    '127.0.0.1.evil.example',
    'localhost.',
    '127.0.0.1:99999',
    '127.0.0.1:',
    '127.0.0.1:80:80',
    '127.0.0.2',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0.0.0.0',
    '[::]',
    '::1',
    '[::ffff:127.0.0.1]',
    'localhost@evil.example',
    'evil.example@localhost',
    'localhost/evil',
    'localhost\\evil',
    ' localhost',
    'localhost\u0000',
    'lоcalhost',
    'localhost,evil.example',
    '',
  ])('%j is not', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });

  it('no mutation of a loopback name becomes one', () => {
    let state = 1;
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    const letters = 'abz019.:[]@/%\\ \t#?-_*\u0000é';
    for (let round = 0; round < 20_000; round++) {
      const base = ['127.0.0.1', 'localhost', '[::1]', 'localhost:80'][random(4)] ?? '';
      const at = random(base.length + 1);
      const mutated = base.slice(0, at) + (letters[random(letters.length)] ?? '') + base.slice(at);
      if (!isLoopbackHost(mutated)) continue;
      // What is left must be a loopback name with a port to any reader of URLs.
      expect(['127.0.0.1', 'localhost', '[::1]']).toContain(new URL(`http://${mutated}/`).hostname);
    }
  });

  it('two Host headers, or none, are refused', () => {
    expect(hostOf(['Host', 'localhost', 'X', 'y'])).toBe('localhost');
    expect(hostOf(['Host', 'localhost', 'host', 'evil.example'])).toBeUndefined();
    expect(hostOf(['X', 'host'])).toBeUndefined();
  });
});

describe('origins', () => {
  const rules = { port: 4327, allowed: ['http://localhost:5173', 'app://studio', 'not an origin', '*'] };

  it.each([
    [undefined, 'none'],
    ['http://127.0.0.1:4327', 'own'],
    ['http://localhost:4327', 'own'],
    ['http://[::1]:4327', 'own'],
    ['http://localhost:5173', 'allowed'],
    ['app://studio', 'allowed'],
    ['http://localhost:3000', 'foreign'],
    ['https://localhost:4327', 'foreign'],
    ['http://localhost', 'foreign'],
    ['http://localhost:43270', 'foreign'],
    ['http://localhost:4327.evil.example', 'foreign'],
    ['http://localhost:5173.evil.example', 'foreign'],
    ['http://evil.example', 'foreign'],
    ['null', 'foreign'],
    ['*', 'foreign'],
    ['', 'foreign'],
    ['HTTP://LOCALHOST:5173', 'foreign'],
    ['http://localhost:5173/', 'foreign'],
    ['http://localhost:5173, http://evil.example', 'foreign'],
  ])('%s is %s', (origin, kind) => {
    expect(originKind(origin, rules)).toBe(kind);
  });

  it.each(['*', 'localhost', 'http://', 'http://a b', 'http://x/path', 'javascript:alert(1)', 'null', ''])(
    '%j is no origin',
    (text) => {
      expect(normalOrigin(text)).toBeUndefined();
    },
  );

  it('spellings of one origin are one', () => {
    expect(normalOrigin('HTTP://LocalHost:80/')).toBe('http://localhost');
  });
});

describe('secrets', () => {
  it('are compared whole', () => {
    expect(sameSecret('abc', 'abc')).toBe(true);
    expect(sameSecret('abc', 'abcd')).toBe(false);
    expect(sameSecret('', 'abc')).toBe(false);
  });
});

/** Every address of the server, filled in. */
const OWN_ADDRESSES = Object.values(ROUTES).map((path) => path.replace(':id', 'some-id'));
const V1_ADDRESSES: [string, string][] = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/gpt-oss-20b'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/completions'],
  ['GET', '/v1/responses/resp_1'],
  ['GET', '/v1'],
  ['GET', '/%761/models'],
  ['GET', '/v1//models'],
  ['GET', '/metrics'],
  ['POST', '/api/chat'],
];
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS', 'HEAD'];

describe('the door', () => {
  it('every address refuses another host before it answers', async () => {
    const server = await startServer();
    for (const path of [...OWN_ADDRESSES, ...V1_ADDRESSES.map(([, p]) => p), '/health', '/', '/nothing', '/%ff']) {
      for (const method of METHODS) {
        const reply = await ask(server, method, path, { headers: { host: 'rebind.example:8080', ...authorized } });
        expect([path, method, reply.status]).toEqual([path, method, path === '/%ff' ? 400 : 403]);
        expect(reply.status).toBeLessThan(500);
        expect(reply.raw).not.toContain('owned_by');
      }
    }
    expect(server.supervisor.asked).toEqual([]);
  });

  it('loopback names work with and without port', async () => {
    const server = await startServer();
    for (const host of ['localhost', '[::1]:8080', '127.0.0.1', `localhost:${server.port}`]) {
      expect((await ask(server, 'GET', '/v1/models', { headers: { host } })).status).toBe(200);
    }
  });

  it('every address of the own API asks for the token', async () => {
    const server = await startServer();
    for (const path of [...OWN_ADDRESSES, '/hearth/v1/unknown', '/hearth', '/%68earth/v1/state']) {
      for (const method of METHODS.filter((one) => one !== 'OPTIONS')) {
        for (const headers of [
          {},
          { authorization: 'Bearer wrong' },
          { authorization: TOKEN },
          { authorization: `Basic ${TOKEN}` },
        ]) {
          const reply = await ask(server, method, path, { headers });
          expect([path, method, reply.status]).toEqual([path, method, 401]);
          expect(reply.raw).not.toContain('wrong');
        }
        expect((await ask(server, method, `${path}?token=${TOKEN}`)).status).toBe(401);
      }
    }
  });

  it('/v1 is open until a key is set, then asks for it everywhere', async () => {
    const server = await startServer();
    expect((await ask(server, 'GET', '/v1/models', { headers: { authorization: 'Bearer sk-anything' } })).status).toBe(
      200,
    );
    await server.options.store.addKey({
      id: 'k',
      name: 'editor',
      hash: hashKey('sk-right'),
      hint: 'ight',
      createdAt: 1,
    });
    for (const [method, path] of V1_ADDRESSES) {
      for (const headers of [{}, { authorization: 'Bearer sk-wrong' }, { authorization: 'Bearer ' }]) {
        const reply = await ask(server, method, path, { headers });
        expect([path, reply.status]).toEqual([path, 401]);
        expect(reply.raw).not.toContain('sk-wrong');
        expect(reply.body.error.code).toBe('invalid_api_key');
      }
    }
    expect((await ask(server, 'GET', '/v1/models', { headers: { authorization: 'Bearer sk-right' } })).status).toBe(
      200,
    );
    expect((await ask(server, 'GET', '/v1/models', { headers: authorized })).status).toBe(200);
    expect((await ask(server, 'GET', '/health')).status).toBe(200);
  });

  it("a key's prompts are cached apart from another's", async () => {
    const server = await startServer();
    await server.options.store.addKey({ id: 'k7', name: 'editor', hash: hashKey('sk-a'), hint: 'a', createdAt: 1 });
    await ask(server, 'POST', '/v1/chat/completions', {
      headers: { authorization: 'Bearer sk-a' },
      body: { model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'x' }] },
    });
    expect(server.supervisor.last.work.cacheScope).toBe('k7');
  });

  it('a page of another site cannot post, also not as text/plain without a preflight', async () => {
    const server = await startServer();
    const body = JSON.stringify({ model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'hi' }] });
    for (const origin of ['https://evil.example', 'null', 'http://localhost:5173']) {
      for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
        const reply = await ask(server, 'POST', '/v1/chat/completions', {
          headers: { origin, 'content-type': type },
          body,
        });
        expect(reply.status).toBe(403);
        expect(reply.headers['access-control-allow-origin']).toBeUndefined();
        expect(reply.raw).not.toMatch(/evil|5173/);
      }
    }
    expect(server.supervisor.asked).toEqual([]);
  });

  it('a hidden fetch of another site is refused, a link from it is not', async () => {
    const server = await startServer();
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await ask(server, 'GET', '/v1/models', { headers })).status).toBe(403);
    expect(
      (await ask(server, 'GET', '/health', { headers: { ...headers, 'sec-fetch-mode': 'navigate' } })).status,
    ).toBe(200);
  });

  it('a preflight of an allowed origin is answered without a key, with all that it asks for, and never with *', async () => {
    const server = await startServer();
    await server.options.store.addKey({ id: 'k', name: 'n', hash: 'h', hint: '', createdAt: 1 });
    const preflight = (origin: string, path = '/v1/chat/completions') =>
      ask(server, 'OPTIONS', path, {
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-private-network': 'true',
          'access-control-request-headers': 'authorization,content-type,x-stainless-timeout,x-stainless-invented-later',
        },
      });
    expect((await preflight('http://localhost:5173')).status).toBe(403);
    const settings = await ask(server, 'PATCH', '/hearth/v1/settings', {
      headers: authorized,
      body: { allowedOrigins: ['http://localhost:5173/'] },
    });
    expect(settings.body.allowedOrigins).toEqual(['http://localhost:5173']);
    const reply = await preflight('http://localhost:5173');
    expect(reply.status).toBe(204);
    expect(reply.headers['access-control-allow-origin']).toBe('http://localhost:5173');
    expect(reply.headers['access-control-allow-headers']).toContain('x-stainless-invented-later');
    expect(reply.headers['access-control-allow-methods']).toContain('POST');
    expect(reply.headers['access-control-allow-private-network']).toBe('true');
    expect((await preflight('https://evil.example')).headers['access-control-allow-origin']).toBeUndefined();
    // The own API is for the own page alone.
    expect((await preflight('http://localhost:5173', '/hearth/v1/state')).status).toBe(403);
  });

  it('an allowed origin gets its answer, streamed too, and only its own name back', async () => {
    const server = await startServer();
    await ask(server, 'PATCH', '/hearth/v1/settings', {
      headers: authorized,
      body: { allowedOrigins: ['http://localhost:5173'] },
    });
    for (const stream of [true, false]) {
      const reply = await ask(server, 'POST', '/v1/chat/completions', {
        headers: { origin: 'http://localhost:5173' },
        body: { model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'x' }], stream },
      });
      expect(reply.status).toBe(200);
      expect(reply.headers['access-control-allow-origin']).toBe('http://localhost:5173');
    }
  });

  it('a setting that would open the API to everybody is refused', async () => {
    const server = await startServer();
    for (const origin of ['*', 'null', 'localhost']) {
      const reply = await ask(server, 'PATCH', '/hearth/v1/settings', {
        headers: authorized,
        body: { allowedOrigins: [origin] },
      });
      expect(reply.status).toBe(400);
    }
  });

  it('requests that are no HTTP get an answer and no crash', async () => {
    const server = await startServer();
    const send = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = new Socket();
        let all = '';
        socket.on('data', (chunk: Buffer) => (all += chunk.toString()));
        socket.on('error', () => resolve(all));
        socket.on('close', () => resolve(all));
        socket.connect(server.port, '127.0.0.1', () => socket.write(text));
        setTimeout(() => socket.destroy(), 1000).unref();
      });
    expect(await send('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400[^]*"error"/);
    expect(await send('GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 4/);
    expect(
      await send('GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 4/);
    expect(
      await send('GET http://evil.example/v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 403/);
    expect(await send('GET /v1/models HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 403/);
    expect((await chat(server, {})).status).toBe(200);
  });
});
