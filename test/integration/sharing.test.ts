// Models from one Hearth to another: two real ones, and one that lies. Nothing is handed out without the key, nothing lands but what was told.
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../electron/app';
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
import { ask, hearth, newFolder, type HearthHere } from './hearths';

const TIMEOUT = 120_000;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const own = (app: App, method: string, path: string, body?: object) => ask(app, method, `/hearth/v1${path}`, body);

const switched = async (app: App, on: boolean) => sharing.parse((await own(app, 'POST', '/sharing', { on })).body);

/** One that has a model of its own, whose hash is known. */
async function giver(): Promise<HearthHere & { bytes: Buffer }> {
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
      const { downloads } = (await own(app, 'GET', '/downloads')).body;
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
        own(second, 'POST', '/imports/hearth', { url: first.url, model: 'gift', ...fields });
      expect((await from({})).body.error.code).toBe('remote_key_refused');
      const { key = '' } = await switched(first, true);
      expect(key.length).toBeGreaterThan(40);
      expect((await from({ key: 'wrong' })).body.error.code).toBe('remote_key_refused');
      expect((await from({ key, model: 'gyft' })).body.error).toMatchObject({
        code: 'model_not_found',
        message: expect.stringContaining('gift'),
      });
      const listed = sharedModels.parse((await own(second, 'POST', '/imports/hearth/models', { url: first.url })).body);
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

/** Another Hearth from a script, by a name that is not this machine's. */
async function scripted(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://other.test:${(server.address() as AddressInfo).port}`;
}

/** Downloads into a folder, without a Hearth around them. */
function downloadsInto(folder: string, keys?: string) {
  const lookup: LookupFunction = (_host, options, done) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
  const settings = { offline: false, proxy: '' };
  const ledger = openLedger();
  const network = createNetwork({ settings: () => settings, ledger, lookup });
  const peers = new Peers(network, new PeerKeys(keys));
  const client = new HubClient({ network, hub: () => 'http://hub.test', token: () => undefined });
  const library = { list: () => [], refresh: async () => undefined, knows: async () => undefined };
  const times = { stallMs: 15_000, waitScale: 0.02 };
  const downloads = createDownloads({ folder: () => folder, network, client, peers, library, times });
  onTestFinished(async () => {
    await downloads.close();
    network.close();
  });
  const finished = async (id: string) => {
    await expect.poll(() => downloads.get(id).phase, { timeout: 30_000 }).toMatch(/done|failed/);
    return downloads.get(id);
  };
  return { folder, downloads, settings, ledger, finished };
}

const shelfOf = (files: object[]) =>
  JSON.stringify({ models: [{ id: 'a'.repeat(32), name: 'gift', bytes: 1, files }] });

/** Offers what it likes. */
async function liar(files: object[], bytes: Buffer) {
  const url = await scripted((request, response) => {
    if (request.url === '/elsewhere') return void response.end(bytes);
    if (request.url === SHARED.models)
      return void response.setHeader('content-type', 'application/json').end(shelfOf(files));
    if (files.length > 1) return void response.writeHead(302, { location: '/elsewhere' }).end();
    response.setHeader('content-length', bytes.length).end(bytes);
  });
  return { url, ...downloadsInto(newFolder()) };
}

const filesBelow = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && entry.name !== 'lock',
      )
    : [];

it('a copy goes on after a restart, with the key that was kept, and no byte comes twice', async () => {
  const bytes = randomBytes(5 * 1024 ** 2);
  const half = 3 * 1024 ** 2;
  let [sent, holds] = [0, true];
  const url = await scripted((request, response) => {
    if (request.headers.authorization !== 'Bearer right') return void response.writeHead(401).end();
    if (request.url === SHARED.models)
      return void response.end(shelfOf([{ path: 'gift.gguf', bytes: bytes.length, sha256: sha256(bytes) }]));
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const [start, end] = [Number(first), Number(last) + 1];
    const range = `bytes ${start}-${end - 1}/${bytes.length}`;
    response.writeHead(206, { 'content-range': range, 'content-length': end - start });
    const piece = bytes.subarray(start, holds ? Math.min(end, half) : end);
    sent += piece.length;
    response.write(piece);
    if (start + piece.length === end) response.end();
  });
  const [folder, keys] = [newFolder(), join(newFolder(), 'keys.json')];
  const before = downloadsInto(folder, keys);
  const { id } = await before.downloads.importFrom({ url, key: 'right', model: 'gift' });
  await expect.poll(() => before.downloads.get(id).doneBytes, { timeout: 20_000 }).toBe(half);
  await before.downloads.close();
  holds = false;
  const after = downloadsInto(folder, keys);
  await after.downloads.open();
  expect(await after.finished(id)).toMatchObject({ phase: 'done', source: 'hearth', doneBytes: bytes.length });
  expect(sent).toBe(bytes.length);
});

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
