// Models from one Hearth to another: two real ones, and one that lies. Nothing is handed out without the key, nothing lands but what was told.
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp, type App } from '../../electron/app';
import { main } from '../../electron/cli/command';
import type { Download } from '../../electron/contract/models';
import { SHARED } from '../../electron/contract/routes';
import { sharedModels, sharing } from '../../electron/contract/sharing';
import { createDownloads } from '../../electron/library/download/downloads';
import { HubClient } from '../../electron/library/hub/client';
import { createNetwork } from '../../electron/library/network';
import { openLedger } from '../../electron/library/network/ledger';
import { Peers } from '../../electron/library/sharing/peer';
import { PeerKeys } from '../../electron/library/sharing/peer-keys';
import { networkAddresses } from '../../electron/server/network';
import { missing, modelPath } from './engine-model';

const TIMEOUT = 120_000;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-sharing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function hearth(): Promise<App & { folder: string }> {
  const folder = newFolder();
  const app = await startApp({ dataDir: folder, port: 0, model: modelPath, diskCache: false });
  onTestFinished(() => app.close());
  return { ...app, folder };
}

async function ask(
  app: App,
  method: string,
  path: string,
  body?: object,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
): Promise<{ status: number; body: any }> {
  const response = await fetch(new URL(`/hearth/v1${path}`, app.url), {
    method,
    headers: { authorization: `Bearer ${app.token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const switched = async (app: App, on: boolean) => sharing.parse((await ask(app, 'POST', '/sharing', { on })).body);

/** One that has a model of its own, whose hash is known. */
async function giver(): Promise<App & { folder: string; bytes: Buffer }> {
  const app = await hearth();
  const path = join(app.folder, 'models', 'gift.gguf');
  mkdirSync(join(app.folder, 'models'), { recursive: true });
  copyFileSync(modelPath, path);
  const bytes = readFileSync(path);
  await app.library.refresh();
  await expect
    .poll(() => app.library.list().find(({ name }) => name === 'gift')?.info, { timeout: 30_000 })
    .toBeDefined();
  await app.library.knows([{ path, sha256: sha256(bytes), verified: true }]);
  return { ...app, bytes };
}

const ended = (app: App, id: string): Promise<Download> =>
  new Promise((resolve, reject) => {
    const look = async () => {
      const { downloads } = (await ask(app, 'GET', '/downloads')).body;
      const found = downloads.find((one: Download) => one.id === id);
      if (['done', 'failed', 'paused'].includes(found?.phase)) resolve(found);
      else setTimeout(() => void look().catch(reject), 50);
    };
    void look().catch(reject);
  });

describe.skipIf(missing)('a model of another Hearth', () => {
  it(
    'is listed and copied with its key alone, compared, and named here as it is there',
    { timeout: TIMEOUT },
    async () => {
      const [first, second] = [await giver(), await hearth()];
      const from = (fields: object) =>
        ask(second, 'POST', '/imports/hearth', { url: first.url, model: 'gift', ...fields });
      expect((await from({})).body.error.code).toBe('remote_key_refused');
      const { key = '' } = await switched(first, true);
      expect(key.length).toBeGreaterThan(40);
      expect((await from({ key: 'wrong' })).body.error.code).toBe('remote_key_refused');
      expect((await from({ key, model: 'gyft' })).body.error).toMatchObject({
        code: 'model_not_found',
        message: expect.stringContaining('gift'),
      });
      const listed = sharedModels.parse((await ask(second, 'POST', '/imports/hearth/models', { url: first.url })).body);
      expect(listed.models.find(({ name }) => name === 'gift')).toMatchObject({
        bytes: first.bytes.length,
        files: [{ path: 'gift.gguf', sha256: sha256(first.bytes) }],
      });
      // The key that was good is kept for this address.
      const begun = await from({});
      expect(begun).toMatchObject({ status: 201, body: { source: 'hearth', totalBytes: first.bytes.length } });
      expect(await ended(second, begun.body.id)).toMatchObject({ phase: 'done', model: 'gift' });
      const copy = second.library.list().find(({ name }) => name === 'gift');
      expect(copy).toMatchObject({ folder: 'own', verification: { state: 'matches' } });
      expect(sha256(readFileSync(copy?.path ?? ''))).toBe(sha256(first.bytes));
    },
  );

  it('is handed out by id and number, by ranges, and by nothing else', { timeout: TIMEOUT }, async () => {
    const first = await giver();
    const { key = '' } = await switched(first, true);
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(new URL(path, first.url), { headers: { authorization: `Bearer ${key}`, ...headers } });
    const { models } = sharedModels.parse(await (await get(SHARED.models)).json());
    const { id = '' } = models.find(({ name }) => name === 'gift') ?? {};
    const file = (index: string, model = id) => SHARED.file.replace(':id', model).replace(':index', index);
    const range = await get(file('0'), { range: 'bytes=100-299' });
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 100-299/${first.bytes.length}`]);
    expect(Buffer.from(await range.arrayBuffer()).equals(first.bytes.subarray(100, 300))).toBe(true);
    expect((await get(file('0'), { range: `bytes=${first.bytes.length}-` })).status).toBe(416);
    const changed = await get(file('0'), { range: 'bytes=0-9', 'if-range': '"other"' });
    expect([changed.status, Number(changed.headers.get('content-length'))]).toEqual([200, first.bytes.length]);
    await changed.body?.cancel();
    for (const path of [file('1'), file('-1'), file('..%2f..%2fserver.json'), file('0', 'f'.repeat(32))])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    // The key opens what is shared and nothing else.
    expect((await get('/hearth/v1/state')).status).toBe(401);
    expect((await fetch(new URL(SHARED.models, first.url))).status).toBe(401);
    await switched(first, false);
    expect((await get(SHARED.models)).status).toBe(401);
    // Switched on again, the old key is good for nothing.
    expect((await switched(first, true)).key).not.toBe(key);
    expect((await get(SHARED.models)).status).toBe(401);
  });

  it.skipIf(networkAddresses().length === 0)(
    'is all that this machine answers on the network, and only while it is shared',
    { timeout: TIMEOUT },
    async () => {
      const first = await giver();
      const port = Number(new URL(first.url).port);
      const address = `http://${networkAddresses()[0]}:${port}`;
      const get = (path: string, headers: Record<string, string> = {}) =>
        fetch(address + path, { headers }).then(
          ({ status }) => status,
          () => 'refused',
        );
      expect(await get('/health')).toBe('refused');
      const { key, urls } = await switched(first, true);
      expect(urls).toContain(address);
      const held = { authorization: `Bearer ${key}` };
      expect(await get(SHARED.models, held)).toBe(200);
      for (const path of [SHARED.models, '/v1/models', '/', '/health', '/hearth/v1/state', '/nothing'])
        expect([path, await get(path)]).toEqual([path, 401]);
      for (const secret of [key, first.token])
        for (const path of ['/v1/models', '/', '/health', '/hearth/v1/state', '/nothing', '/metrics'])
          expect([path, await get(path, { authorization: `Bearer ${secret}` })]).toEqual([path, 404]);
      expect(await get(SHARED.models, { ...held, origin: 'http://evil.example' })).toBe(403);
      await switched(first, false);
      expect(await get(SHARED.models, held)).toBe('refused');
    },
  );

  it('is fetched by `hearth pull`', { timeout: TIMEOUT }, async () => {
    const first = await giver();
    const { key = '' } = await switched(first, true);
    const folder = newFolder();
    let [out, err] = ['', ''];
    const io = {
      out: (text: string) => void (out += text),
      err: (text: string) => void (err += text),
      terminal: false,
    };
    const code = await main(['pull', `${first.url}/gift`, '--key', key, '--json', '--data-dir', folder], io);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out).download).toMatchObject({ phase: 'done', source: 'hearth', model: 'gift' });
  });
});

/** A server that offers what it likes, called by a name that is not this machine's. */
async function liar(files: object[], bytes: Buffer) {
  const server = createServer((request, response) => {
    if (request.url === '/elsewhere') return void response.end(bytes);
    if (request.url === SHARED.models) {
      const model = { id: 'a'.repeat(32), name: 'gift', bytes: 1, files };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify({ models: [model] }));
    }
    if (files.length > 1) return void response.writeHead(302, { location: '/elsewhere' }).end();
    response.setHeader('content-length', bytes.length).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const lookup: LookupFunction = (_host, options, done) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
  const settings = { offline: false, proxy: '' };
  const ledger = openLedger();
  const network = createNetwork({ settings: () => settings, ledger, lookup });
  const peers = new Peers(network, new PeerKeys());
  const folder = newFolder();
  const client = new HubClient({ network, hub: () => 'http://hub.test', token: () => undefined });
  const library = { list: () => [], refresh: async () => undefined, knows: async () => undefined };
  const times = { stallMs: 15_000, waitScale: 0.02 };
  const downloads = createDownloads({ folder: () => folder, network, client, peers, library, times });
  onTestFinished(async () => {
    await downloads.close();
    network.close();
  });
  const url = `http://other.test:${(server.address() as AddressInfo).port}`;
  const finished = async (id: string) => {
    await expect.poll(() => downloads.get(id).phase, { timeout: 30_000 }).toMatch(/done|failed/);
    return downloads.get(id);
  };
  return { url, folder, downloads, settings, ledger, peers, finished };
}

const filesBelow = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && entry.name !== 'lock',
      )
    : [];

describe('another Hearth that cannot be trusted', () => {
  const bytes = randomBytes(1000);
  const good = { path: 'gift.gguf', bytes: 1000, sha256: sha256(bytes) };

  it.each(['../gift.gguf', '/etc/gift.gguf', 'a\\..\\gift.gguf', 'C:gift.gguf', 'con.gguf', '.hidden.gguf'])(
    'names %j, and nothing is written',
    async (path) => {
      const { url, folder, downloads } = await liar([{ ...good, path }], bytes);
      await expect(downloads.importFrom({ url, model: 'gift' })).rejects.toMatchObject({ code: 'unsafe_name' });
      expect(filesBelow(folder)).toEqual([]);
    },
  );

  it('sends other bytes than it told, and no file comes of it', async () => {
    const { url, folder, downloads, finished } = await liar([{ ...good, sha256: sha256(randomBytes(9)) }], bytes);
    const { id } = await downloads.importFrom({ url, model: 'gift' });
    expect(await finished(id)).toMatchObject({ phase: 'failed', error: { code: 'checksum_mismatch' } });
    expect(filesBelow(folder).filter(({ name }) => name.endsWith('.gguf'))).toEqual([]);
  });

  it('leads elsewhere, and nobody goes there', async () => {
    const { url, downloads, finished } = await liar([good, { ...good, path: 'b.gguf' }], bytes);
    const { id } = await downloads.importFrom({ url, model: 'gift' });
    expect((await finished(id)).phase).toBe('failed');
  });

  it('is off this machine: in the ledger, and never reached in offline mode', async () => {
    const { url, downloads, settings, ledger, finished } = await liar([good], bytes);
    const { id } = await downloads.importFrom({ url, model: 'gift' });
    expect((await finished(id)).phase).toBe('done');
    await expect
      .poll(() => ledger.list())
      .toMatchObject([
        { purpose: 'lan_import', outcome: 'ok' },
        { purpose: 'lan_import', outcome: 'ok', detail: 'models' },
      ]);
    settings.offline = true;
    await expect(downloads.importFrom({ url, model: 'gift' })).rejects.toMatchObject({ code: 'offline' });
    expect(ledger.list()[0]).toMatchObject({ purpose: 'lan_import', outcome: 'refused' });
  });

  it.each([
    ['nonsense', { models: [{ id: '../..', name: 'x', bytes: 1 }] }],
    [
      'a hash that is none',
      { models: [{ id: 'a'.repeat(32), name: 'x', bytes: 1, files: [{ ...good, sha256: '..' }] }] },
    ],
  ])('answers with %s', async (_what, answer) => {
    const server = createServer((_request, response) => void response.end(JSON.stringify(answer)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const network = createNetwork({ settings: () => ({ offline: false, proxy: '' }), ledger: openLedger() });
    onTestFinished(() => network.close());
    const { port } = server.address() as AddressInfo;
    const asked = new Peers(network, new PeerKeys()).models(`http://127.0.0.1:${port}`);
    await expect(asked).rejects.toMatchObject({ code: 'remote_failed' });
  });
});
