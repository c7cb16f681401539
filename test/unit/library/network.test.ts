// The door to the outside: what it sends, to whom, and what it refuses to send. Every name leads to loopback here, by a lookup of the test's.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type LookupFunction, type Socket } from 'node:net';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import { createNetwork, readJson, type Network, type NetworkSettings } from '../../../electron/library/network';
import { hubOrigin, isLocalHost, redirectTarget } from '../../../electron/library/network/addresses';
import { HubToken } from '../../../electron/library/network/hub-token';
import { openLedger, withConnection, type Ledger } from '../../../electron/library/network/ledger';
import { proxyOf } from '../../../electron/library/network/proxy';

let lookups: string[] = [];
const toLoopback: LookupFunction = (host, options, done) => {
  lookups.push(host);
  if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listening(createServer(listener));

function door(settings: Partial<NetworkSettings> = {}): { network: Network; ledger: Ledger } {
  lookups = [];
  const ledger = openLedger();
  const network = createNetwork({
    settings: () => ({ offline: false, proxy: '', ...settings }),
    ledger,
    lookup: toLoopback,
  });
  onTestFinished(() => network.close());
  return { network, ledger };
}

const search = { purpose: 'search', detail: 'gpt-oss' } as const;

async function failure(work: Promise<unknown>): Promise<HearthError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HearthError)) throw error;
  return error;
}

describe('requests', () => {
  it('are answered, told in the ledger, and unpacked by nobody', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const port = await serve((request, response) => {
      seen.push(request.headers);
      response.end('{"ok":true}');
    });
    const { network, ledger } = door();
    const answer = await network.open({ url: `http://hub.test:${port}/api`, ...search, bearer: 'secret' });
    expect(await readJson(answer)).toEqual({ ok: true });
    expect(seen[0]).toMatchObject({ 'accept-encoding': 'identity', authorization: 'Bearer secret' });
    await expect.poll(() => ledger.list()).toHaveLength(1);
    expect(ledger.list()[0]).toMatchObject({ host: `hub.test:${port}`, outcome: 'ok', purpose: 'search', count: 1 });
    expect(ledger.list()[0]?.bytes).toBeGreaterThan(10);
  });

  it('keep the key from another host that they are redirected to, also on the way back', async () => {
    const auth: string[] = [];
    const port = await serve((request, response) => {
      auth.push(`${request.headers.host?.split(':')[0]} ${request.url} ${request.headers.authorization ?? 'none'}`);
      const to = { '/a': '/b', '/b': `http://cdn.test:${port}/c`, '/c': `http://hub.test:${port}/d` }[
        request.url ?? ''
      ];
      if (to) response.writeHead(302, { location: to }).end();
      else response.end('done');
    });
    const { network } = door();
    const answer = await network.open({ url: `http://hub.test:${port}/a`, ...search, bearer: 'k' });
    answer.body.resume();
    expect(answer.url.pathname).toBe('/d');
    expect(auth).toEqual(['hub.test /a Bearer k', 'hub.test /b Bearer k', 'cdn.test /c none', 'hub.test /d none']);
  });

  it('do not go round in circles, nor to this machine, nor from https to http', async () => {
    const port = await serve((request, response) => {
      const location = request.url === '/home' ? 'http://127.0.0.1:1/' : '/circle';
      response.writeHead(302, { location }).end();
    });
    const { network } = door();
    for (const path of ['circle', 'home']) {
      expect((await failure(network.open({ url: `http://hub.test:${port}/${path}`, ...search }))).code).toBe(
        'hub_failed',
      );
    }
    expect(() => redirectTarget(new URL('https://a.test/'), 'http://a.test/')).toThrow(/without encryption/);
    expect(() => redirectTarget(new URL('https://a.test/'), 'file:///etc/passwd')).toThrow(/kind of address/);
  });

  it('that nobody answers fail in time, and those that are called off at once', async () => {
    const port = await serve(() => undefined);
    const { network, ledger } = door();
    const url = `http://hub.test:${port}/`;
    expect((await failure(network.open({ url, ...search, headMs: 50 }))).code).toBe('unreachable');
    const controller = new AbortController();
    const asked = network.open({ url, ...search, signal: controller.signal });
    controller.abort(new Error('called off'));
    await expect(asked).rejects.toThrow('called off');
    expect(ledger.list().map(({ outcome }) => outcome)).toEqual(['failed']);
  });
});

describe('offline mode', () => {
  it('opens no socket and looks up no name, and tells what was refused', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked += 1;
      response.end();
    });
    const { network, ledger } = door({ offline: true, proxy: `http://127.0.0.1:${port}` });
    expect((await failure(network.open({ url: 'https://huggingface.co/api/models', ...search }))).code).toBe('offline');
    expect({ asked, lookups }).toEqual({ asked: 0, lookups: [] });
    expect(ledger.list()).toMatchObject([{ host: 'huggingface.co', outcome: 'refused', bytes: 0 }]);
    const local = await network.open({ url: `http://localhost:${port}/`, ...search });
    local.body.resume();
    expect(local.status).toBe(200);
    expect(ledger.list()).toHaveLength(1);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.9.1', true],
    ['[::1]', true],
    ['LOCALHOST.', true],
    ['x.localhost', true],
    ['[::ffff:7f00:1]', true],
    ['localhost.example', false],
    ['127.0.0.1.example', false],
    ['10.0.0.1', false],
    ['[fe80::1]', false],
  ])('%s is on this machine: %s', (host, local) => {
    expect(isLocalHost(new URL(`http://${host}/`).hostname)).toBe(local);
  });
});

/** A proxy for CONNECT that leads every name to loopback. */
async function connectProxy(asked: string[]): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    const target = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  return listening(server);
}

/** A SOCKS5 proxy that wants a name and a password, and sends its bytes one by one. */
async function socksProxy(asked: string[]): Promise<number> {
  const server = createTcpServer((socket) => {
    let step = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      if (step++ === 0) socket.write(Buffer.of(5, 2));
      else if (step === 2) {
        const name = bytes.subarray(2, 2 + (bytes[1] ?? 0)).toString();
        socket.write(Buffer.of(1, name === 'me' ? 0 : 1));
      } else if (step === 3) {
        const host = bytes.subarray(5, 5 + (bytes[4] ?? 0)).toString();
        asked.push(host);
        const target = connect(bytes.readUInt16BE(bytes.length - 2), '127.0.0.1', () => {
          for (const byte of [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) socket.write(Buffer.of(byte));
          target.pipe(socket);
        });
        socket.removeAllListeners('data').pipe(target);
      }
    });
  });
  return listening(server);
}

describe('proxies', () => {
  it('carry what leaves the machine, and know their own password', async () => {
    const port = await serve((_request, response) => response.end('{"through":1}'));
    const asked: string[] = [];
    const proxy = `http://me:p%40ss@127.0.0.1:${await connectProxy(asked)}`;
    const { network } = door({ proxy });
    expect(await readJson(await network.open({ url: `http://hub.test:${port}/`, ...search }))).toEqual({ through: 1 });
    expect(asked).toEqual([`hub.test:${port} Basic ${Buffer.from('me:p@ss').toString('base64')}`]);
    const local = await network.open({ url: `http://127.0.0.1:${port}/`, ...search });
    local.body.resume();
    expect(asked).toHaveLength(1);
  });

  it('of SOCKS5 look names up themselves', async () => {
    const port = await serve((_request, response) => response.end('{"through":5}'));
    const asked: string[] = [];
    const { network } = door({ proxy: `socks5://me:secret@127.0.0.1:${await socksProxy(asked)}` });
    expect(await readJson(await network.open({ url: `http://hub.test:${port}/`, ...search }))).toEqual({ through: 5 });
    expect({ asked, lookups }).toEqual({ asked: ['hub.test'], lookups: [] });
  });

  it('that fail are told apart from the hub', async () => {
    const refusing = await listening(
      createServer().on('connect', (_request, socket) => socket.end('HTTP/1.1 407 No\r\n\r\n')),
    );
    const { network } = door({ proxy: `http://127.0.0.1:${refusing}` });
    const error = await failure(network.open({ url: 'http://hub.test:1/', ...search }));
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('status 407') });
    expect(() => proxyOf('ftp://x')).toThrow(HearthError);
    expect(() => proxyOf('nonsense')).toThrow(HearthError);
    expect(proxyOf(' ')).toBeUndefined();
  });
});

describe('the ledger', () => {
  it('tells alike connections of an hour as one, and outlives the process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hearth-ledger-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'connections.json');
    const entry = { host: 'h', purpose: 'download', detail: 'a/b', bytes: 10, outcome: 'ok' } as const;
    let now = 1;
    const ledger = openLedger(path, () => now);
    ledger.add(entry);
    ledger.add({ ...entry, detail: 'c/d' });
    ledger.add(entry);
    now += 3_600_001;
    ledger.add(entry);
    await ledger.close();
    const read = openLedger(path).list();
    expect(read.map(({ detail, count, bytes }) => [detail, count, bytes])).toEqual([
      ['a/b', 1, 10],
      ['a/b', 2, 20],
      ['c/d', 1, 10],
    ]);
  });

  it('is bounded', () => {
    let list: ReturnType<typeof withConnection> = [];
    for (let at = 0; at < 5100; at++) {
      list = withConnection(list, { at, host: String(at), purpose: 'search', detail: '', bytes: 0, outcome: 'ok' });
    }
    expect(list).toHaveLength(5000);
    expect(list[0]?.host).toBe('5099');
  });
});

describe('the token of the hub', () => {
  it('goes to the origin it was entered for and to no other, and is readable by its user alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hearth-token-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'hub-token.json');
    await new HubToken(path).set('hf_secret', 'https://huggingface.co');
    const token = new HubToken(path);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(token.for('https://huggingface.co/')).toBe('hf_secret');
    for (const other of ['http://huggingface.co', 'https://huggingface.co:444', 'https://mirror.test']) {
      expect(token.for(other)).toBeUndefined();
    }
    await token.clear();
    expect(new HubToken(path).isSet).toBe(false);
  });

  it.each([
    ['hf-mirror.com', 'https://hf-mirror.com'],
    [' http://127.0.0.1:18777/ ', 'http://127.0.0.1:18777'],
    ['https://mirror.test/hf/', 'https://mirror.test/hf'],
  ])('a mirror typed as %s is %s', (typed, origin) => {
    expect(hubOrigin(typed)).toBe(origin);
  });

  it('a mirror that is no address is refused', () => {
    expect(() => hubOrigin('ftp://x')).toThrow(HearthError);
    expect(() => hubOrigin('https://')).toThrow(HearthError);
  });
});
