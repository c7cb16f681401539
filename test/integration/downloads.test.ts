// Downloads from a hub that misbehaves, into a real folder through the real thread: what is fetched again, what is refused, what is kept.
import { createHash, randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HearthError } from '../../electron/contract/errors';
import type { Download } from '../../electron/contract/models';
import { createDownloads, type Downloads } from '../../electron/library/download/downloads';
import { blockBytesOf } from '../../electron/library/download/plan';
import { HubClient } from '../../electron/library/hub/client';
import { createNetwork } from '../../electron/library/network';
import { openLedger } from '../../electron/library/network/ledger';
import { scanFolder } from '../../electron/library/scan';
import type { KnownContent, LibraryModel } from '../../electron/library/types';
import { FakeHub, REPO, type Behaviour } from './fake-hub';

vi.setConfig({ testTimeout: 90_000 });

const KB = 1024;
const MB = 1024 ** 2;
const toLoopback: LookupFunction = (_host, options, done) =>
  options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);

interface Bench {
  hub: FakeHub;
  folder: string;
  downloads: Downloads;
  seen: Download[];
  /** What the library was told of files in their place. */
  told: KnownContent[];
  /** What was shown, in time: never falls. */
  token?: string;
}

function models(folder: string) {
  let list: LibraryModel[] = [];
  const told: KnownContent[] = [];
  return {
    list: () => list,
    told,
    knows: (content: readonly KnownContent[]) => {
      // What is told of must be in its place.
      told.push(...content.filter(({ path }) => existsSync(path)));
      return Promise.resolve();
    },
    refresh: async () => {
      const { found } = await scanFolder(folder);
      list = found.map(({ path, files }) => ({
        name: path.slice(folder.length + 1),
        path,
        fileBytes: files.reduce((sum, { size }) => sum + size, 0),
        builtin: false,
      }));
    },
  };
}

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-downloads-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function bench(
  files: Record<string, Buffer>,
  {
    behaviour,
    folder = tempFolder(),
    host,
    token,
    stallMs = 15_000,
  }: Partial<Bench> & {
    behaviour?: Behaviour;
    host?: string;
    stallMs?: number;
  } = {},
): Promise<Bench> {
  const hub = new FakeHub(files);
  if (behaviour) hub.behaviour = behaviour;
  await hub.listen();
  const { downloads, seen, told } = manager(hub, folder, { host, token, stallMs });
  onTestFinished(() => hub.close());
  return { hub, folder, downloads, seen, told };
}

function manager(hub: FakeHub, folder: string, given: { host?: string; token?: string; stallMs?: number } = {}) {
  const network = createNetwork({
    settings: () => ({ offline: false, proxy: '' }),
    ledger: openLedger(),
    lookup: toLoopback,
  });
  const address = `http://${given.host ?? '127.0.0.1'}:${hub.port}`;
  const client = new HubClient({ network, hub: () => address, token: () => given.token });
  const times = { stallMs: given.stallMs ?? 15_000, waitScale: 0.02 };
  const library = models(folder);
  const downloads = createDownloads({ folder: () => folder, network, client, library, times });
  const seen: Download[] = [];
  downloads.watch(() => seen.push(...downloads.list()));
  onTestFinished(async () => {
    await downloads.close();
    network.close();
  });
  return { downloads, seen, told: library.told };
}

async function ended({ downloads }: Pick<Bench, 'downloads'>, id: string): Promise<Download> {
  let last: Download | undefined;
  await expect
    .poll(() => (last = downloads.list().find((one) => one.id === id))?.phase, { timeout: 60_000, interval: 20 })
    .toMatch(/^(done|failed|paused)$/);
  if (!last) throw new Error('the download is gone');
  return last;
}

const get = async (one: Bench, file = 'tiny.gguf') => ended(one, (await one.downloads.start({ repo: REPO, file })).id);
const code = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HearthError)) throw new Error(`no typed error: ${String(error)}`);
  return error;
};
const place = ({ folder }: Pick<Bench, 'folder'>, file = 'tiny.gguf') => join(folder, REPO, file);
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const same = (path: string, bytes: Buffer) => hashOf(readFileSync(path)) === hashOf(bytes);
const neverFalls = (seen: Download[]) =>
  seen.every((one, index) => index === 0 || one.doneBytes >= (seen[index - 1]?.doneBytes ?? 0));
const content = (bytes: number) => randomBytes(bytes);

describe('a download', () => {
  it('of many ranges is whole, has its name only at the end, and leaves nothing beside it', async () => {
    const file = content(40 * MB + 12_345);
    const one = await bench({ 'tiny.gguf': file, 'README.md': Buffer.from('read me') });
    const begun = await one.downloads.start({ repo: REPO, file: 'tiny.gguf' });
    expect(existsSync(place(one))).toBe(false);
    const done = await ended(one, begun.id);
    expect(done).toMatchObject({ phase: 'done', doneBytes: file.length, model: `${REPO}/tiny.gguf` });
    expect(same(place(one), file)).toBe(true);
    expect(one.hub.asked.length).toBeGreaterThan(3);
    // Short ones, one after the other on the same connections.
    expect(one.hub.connections).toBeLessThan(8);
    expect(one.hub.sent).toBe(file.length);
    expect(neverFalls(one.seen)).toBe(true);
    await one.downloads.close();
    expect(readdirSync(one.folder)).toEqual(['test']);
  });

  it('from a server that sends more than it is asked for is read from one answer', async () => {
    const file = content(40 * MB);
    const one = await bench({ 'tiny.gguf': file }, { behaviour: () => ({ ignoreRangeEnd: true }) });
    expect((await get(one)).phase).toBe('done');
    expect([one.hub.asked.length, one.hub.sent]).toEqual([1, file.length]);
    expect(same(place(one), file)).toBe(true);
  });

  it('that is cut at 40 % and at 80 % goes on from there (dl-01)', async () => {
    const file = content(3_000_000);
    const cuts = [0.4, 0.8].map((part) => Math.floor(part * file.length));
    const one = await bench({ 'tiny.gguf': file }, { behaviour: (count) => ({ cutAt: cuts[count - 1] }) });
    expect((await get(one)).phase).toBe('done');
    const starts = one.hub.asked.map(({ range }) => Number(/\d+/.exec(range ?? '')?.[0]));
    expect(starts).toHaveLength(3);
    // What lay unread in the stream that broke off comes again.
    starts.forEach((start, index) => expect(([0, ...cuts][index] ?? 0) - start).toBeLessThan(128 * KB));
    expect(one.hub.sent).toBeLessThan(file.length + 256 * KB);
    expect(same(place(one), file)).toBe(true);
    expect(neverFalls(one.seen)).toBe(true);
    // Or the library would read all of it once more.
    expect(one.told).toEqual([{ path: place(one), sha256: hashOf(file), verified: true }]);
  });

  it('is given up after three answers without a byte, and goes on with a click', async () => {
    const file = content(300 * KB);
    const one = await bench({ 'tiny.gguf': file }, { behaviour: () => ({ cutAt: 0 }) });
    const failed = await get(one);
    expect(failed).toMatchObject({ phase: 'failed', error: { code: 'unreachable' } });
    expect(one.hub.asked).toHaveLength(3);
    one.hub.behaviour = () => undefined;
    await one.downloads.resume(failed.id);
    expect((await ended(one, failed.id)).phase).toBe('done');
  });

  it('that stalls says so and takes another connection', async () => {
    const file = content(MB);
    const one = await bench(
      { 'tiny.gguf': file },
      { stallMs: 150, behaviour: (count) => (count === 1 ? { stallAt: 200_000 } : undefined) },
    );
    expect((await get(one)).phase).toBe('done');
    expect(one.hub.sent).toBe(file.length);
  });

  it('of parts and of a folder is complete before any of it has a name', async () => {
    const parts = { 'big-00001-of-00002.gguf': content(200 * KB), 'big-00002-of-00002.gguf': content(100 * KB) };
    const folder = {
      'config.json': Buffer.from('{}'),
      'tokenizer.json': Buffer.from('{"model":{}}'),
      'model.safetensors': content(150 * KB),
      'original/model.safetensors': content(10),
    };
    const one = await bench({ ...parts, ...folder });
    expect(await get(one, 'big-00002-of-00002.gguf')).toMatchObject({ phase: 'done', file: 'big-00001-of-00002.gguf' });
    for (const [name, bytes] of Object.entries(parts)) expect(same(place(one, name), bytes)).toBe(true);
    expect(await get(one, 'model.safetensors')).toMatchObject({ phase: 'done', model: REPO });
    expect(readdirSync(join(one.folder, REPO)).sort()).toEqual(
      [...Object.keys(parts), 'config.json', 'model.safetensors', 'tokenizer.json'].sort(),
    );
  });

  it('of a file that is here already compares it, and fetches it only where it is another one', async () => {
    const file = content(300 * KB);
    const one = await bench({ 'tiny.gguf': file });
    mkdirSync(join(one.folder, REPO), { recursive: true });
    writeFileSync(place(one), file);
    expect((await get(one)).phase).toBe('done');
    expect(one.hub.asked).toHaveLength(0);
    writeFileSync(place(one), content(300 * KB));
    expect((await get(one)).phase).toBe('done');
    expect(same(place(one), file)).toBe(true);
  });

  it('can be called off, and leaves no byte', async () => {
    const one = await bench({ 'tiny.gguf': content(MB) }, { behaviour: () => ({ stallAt: 100_000 }) });
    const { id } = await one.downloads.start({ repo: REPO, file: 'tiny.gguf' });
    await expect.poll(() => one.hub.asked.length).toBe(1);
    await one.downloads.cancel(id);
    expect(one.downloads.list()).toEqual([]);
    await one.downloads.close();
    expect(readdirSync(one.folder)).toEqual([]);
  });
});

describe('what is stored', () => {
  it('is paused, survives the process, and is not fetched again', async () => {
    const file = content(8 * MB);
    const one = await bench({ 'tiny.gguf': file }, { behaviour: () => ({ stallAt: 5 * MB }) });
    const { id } = await one.downloads.start({ repo: REPO, file: 'tiny.gguf' });
    await expect.poll(() => one.downloads.list()[0]?.doneBytes, { timeout: 20_000 }).toBe(5 * MB);
    const paused = await one.downloads.pause(id);
    expect(paused.phase).toBe('paused');
    expect((await scanFolder(one.folder)).found).toEqual([]);
    await one.downloads.close();
    one.hub.behaviour = () => undefined;
    const later = manager(one.hub, one.folder);
    await later.downloads.open();
    expect(later.downloads.list()[0]).toMatchObject({ id, phase: 'paused', doneBytes: 5 * MB });
    await later.downloads.resume(id);
    expect((await ended(later, id)).phase).toBe('done');
    expect(one.hub.sent).toBe(file.length);
    expect(same(place(one), file)).toBe(true);
  });

  it('with one byte flipped on the disk has only that block fetched again', async () => {
    const file = content(8 * MB);
    const one = await bench({ 'tiny.gguf': file }, { behaviour: () => ({ stallAt: 7 * MB }) });
    const { id } = await one.downloads.start({ repo: REPO, file: 'tiny.gguf' });
    await expect.poll(() => one.downloads.list()[0]?.doneBytes, { timeout: 20_000 }).toBe(7 * MB);
    await one.downloads.pause(id);
    const part = openSync(join(one.folder, '.downloads', id, '0.part'), 'r+');
    writeSync(part, Buffer.of((file[3_000_000] ?? 0) ^ 4), 0, 1, 3_000_000);
    one.hub.behaviour = () => undefined;
    await one.downloads.resume(id);
    expect((await ended(one, id)).phase).toBe('done');
    expect(one.hub.sent).toBe(file.length + blockBytesOf(file.length));
    expect(same(place(one), file)).toBe(true);
    expect(neverFalls(one.seen)).toBe(true);
  });

  it('is believed only as far as its journal is whole', async () => {
    const file = content(4 * MB);
    const one = await bench({ 'tiny.gguf': file }, { behaviour: () => ({ stallAt: 2 * MB }) });
    const { id } = await one.downloads.start({ repo: REPO, file: 'tiny.gguf' });
    await expect.poll(() => one.downloads.list()[0]?.doneBytes, { timeout: 20_000 }).toBe(2 * MB);
    await one.downloads.pause(id);
    await one.downloads.close();
    const journal = join(one.folder, '.downloads', id, '0.part.journal');
    const bytes = readFileSync(journal);
    writeFileSync(journal, Buffer.concat([bytes.subarray(0, -7), randomBytes(100)]));
    one.hub.behaviour = () => undefined;
    const later = manager(one.hub, one.folder);
    await later.downloads.open();
    expect(later.downloads.list()[0]?.doneBytes).toBe(2 * MB - blockBytesOf(file.length));
    await later.downloads.resume(id);
    expect((await ended(later, id)).phase).toBe('done');
    expect(same(place(one), file)).toBe(true);
  });

  it('belongs to one process at a time', async () => {
    const one = await bench({ 'tiny.gguf': content(MB) }, { behaviour: () => ({ stallAt: 1000 }) });
    await one.downloads.start({ repo: REPO, file: 'tiny.gguf' });
    // As another process would leave it.
    writeFileSync(join(one.folder, '.downloads', 'lock'), '1');
    const other = manager(one.hub, one.folder);
    await other.downloads.open();
    expect(other.downloads.list()).toEqual([]);
    expect((await code(other.downloads.start({ repo: REPO, file: 'tiny.gguf' }))).code).toBe('already_running');
  });
});

describe('a hash that differs', () => {
  it('because the hub sends a wrong byte ends the download; nothing has the name (dl-03)', async () => {
    const file = content(2 * MB);
    const one = await bench({ 'tiny.gguf': file }, { behaviour: () => ({ flip: [1_000_000] }) });
    const failed = await get(one);
    expect(failed).toMatchObject({ phase: 'failed', error: { code: 'checksum_mismatch' } });
    expect(failed.error?.message).toContain('checksum');
    expect(existsSync(place(one))).toBe(false);
    expect((await scanFolder(one.folder)).found).toEqual([]);
    one.hub.behaviour = () => undefined;
    await one.downloads.resume(failed.id);
    expect((await ended(one, failed.id)).phase).toBe('done');
    expect(same(place(one), file)).toBe(true);
  });

  it('because one answer was bad is repaired, and no more is fetched than up to there', async () => {
    const file = content(8 * MB);
    const one = await bench(
      { 'tiny.gguf': file },
      { behaviour: (count) => (count === 1 ? { flip: [100] } : undefined) },
    );
    expect((await get(one)).phase).toBe('done');
    expect(one.hub.sent).toBeLessThan(1.2 * file.length);
    expect(same(place(one), file)).toBe(true);
  });
});

describe('answers that do not fit', () => {
  const once =
    (bad: ReturnType<Behaviour>): Behaviour =>
    (count) =>
      count === 1 ? bad : undefined;
  it.each<[string, Behaviour]>([
    ['everything instead of a range', () => ({ ignoreRange: true })],
    ['everything, cut in the middle', (count) => ({ ignoreRange: true, ...(count === 1 && { cutAt: 700_000 }) })],
    ['more than the range', () => ({ ignoreRangeEnd: true })],
    ['another range', once({ shiftRange: true })],
    ['another range, always', ((_count, { start }) => (start > 0 ? undefined : { ignoreRange: true })) as Behaviour],
    ['a packed range', () => ({ gzip: true })],
    ['a page', once({ body: '<html>Log in</html>', headers: { 'content-type': 'text/html; charset=utf-8' } })],
    ['an error of the server', once({ status: 502 })],
    ['a wish to wait', once({ status: 429, headers: { 'retry-after': '2' } })],
    ['a wrong end of the file', once({ status: 416 })],
    ['another tag for the same file', (count) => ({ etag: `"${count}"`, ...(count === 1 && { cutAt: 500_000 }) })],
  ])('%s: the file is right in the end', async (_what, behaviour) => {
    const file = content(1_500_000);
    const one = await bench({ 'tiny.gguf': file }, { behaviour });
    expect(await get(one)).toMatchObject({ phase: 'done' });
    expect(same(place(one), file)).toBe(true);
  });

  it('with a page each time end the download in words', async () => {
    const html = { body: '<html>', headers: { 'content-type': 'text/html' } };
    const one = await bench({ 'tiny.gguf': content(KB) }, { behaviour: () => html });
    const failed = await get(one);
    expect(failed.error).toMatchObject({
      code: 'hub_failed',
      message: expect.stringContaining('a page instead of the file'),
    });
  });

  it('that ask for a wait again and again are not asked for ever', async () => {
    const one = await bench({ 'tiny.gguf': content(KB) }, { behaviour: () => ({ status: 429 }) });
    expect(await get(one)).toMatchObject({ phase: 'failed', error: { code: 'hub_failed' } });
    expect(one.hub.asked.length).toBeLessThanOrEqual(12);
  });

  it('because the file has changed begin anew, and say so', async () => {
    const before = content(2 * MB);
    const after = content(3 * MB);
    const one = await bench({ 'tiny.gguf': before }, { behaviour: () => ({ cutAt: MB, stallAt: MB }) });
    one.hub.behaviour = (count) => {
      if (count !== 1) return undefined;
      one.hub.files = { 'tiny.gguf': after };
      return { cutAt: MB };
    };
    expect(await get(one)).toMatchObject({ phase: 'done', restarted: true, totalBytes: after.length });
    expect(same(place(one), after)).toBe(true);
  });
});

describe('what a hub says no to', () => {
  it('is told at once, with nothing written', async () => {
    const one = await bench({ 'tiny.gguf': content(KB) });
    expect((await code(one.downloads.start({ repo: 'test/other', file: 'tiny.gguf' }))).code).toBe('not_found');
    expect((await code(one.downloads.start({ repo: REPO, file: 'other.gguf' }))).code).toBe('not_found');
    one.hub.gated = true;
    expect(await get(one)).toMatchObject({ phase: 'failed', error: { code: 'hub_denied' } });
    expect(readdirSync(one.folder)).toEqual(['.downloads']);
  });

  it('is fetched with the token, which stays with the hub when its store is elsewhere', async () => {
    const file = content(20 * MB);
    const one = await bench({ 'tiny.gguf': file }, { host: 'hub.test', token: 'hf_secret' });
    one.hub.cdn = `http://cdn.test:${one.hub.port}`;
    expect((await get(one)).phase).toBe('done');
    const [hub, cdn] = [false, true].map((cdn) => one.hub.asked.filter(({ path }) => path.startsWith('/cdn/') === cdn));
    expect(new Set(hub?.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer hf_secret']));
    expect(new Set(cdn?.map(({ authorization }) => authorization))).toEqual(new Set([undefined]));
    // The hub led there once or, with connections that began together, a few times: not for every range.
    expect(hub?.length).toBeLessThan(cdn?.length ?? 0);
  });

  it.each(['../../evil.gguf', '/evil.gguf', 'sub/../../evil.gguf', 'C:\\evil.gguf', 'a\0.gguf', 'a\\b.gguf'])(
    'a repository that lists %j is refused by that name before a byte is written (sec-09)',
    async (name) => {
      const one = await bench({ 'tiny.gguf': content(KB) });
      one.hub.evilNames = [name];
      const error = await code(one.downloads.start({ repo: REPO, file: 'tiny.gguf' }));
      expect(error).toMatchObject({ code: 'unsafe_name', message: expect.stringContaining(JSON.stringify(name)) });
      expect(readdirSync(one.folder)).toEqual([]);
      expect(one.hub.asked).toHaveLength(0);
    },
  );

  it.each([
    'con.gguf',
    'LPT1.x.gguf',
    '.hidden.gguf',
    `${'x'.repeat(300)}.gguf`,
    'a\u202e.gguf',
    'a:b.gguf',
    'b /x.gguf',
  ])('a file called %j is no file here', async (name) => {
    const one = await bench({ [name]: content(KB) });
    const asked = await code(one.downloads.start({ repo: REPO, file: name }));
    expect(asked.code).toBe('unsafe_name');
    expect(readdirSync(one.folder)).toEqual([]);
  });
});

describe('a disk without room', () => {
  const mounted = (): string | undefined => {
    const folder = tempFolder();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', folder], { stdio: 'ignore' });
    } catch {
      return undefined;
    }
    onTestFinished(() => void execFileSync('umount', ['-l', folder]));
    return folder;
  };

  it('is told before a byte is fetched, with what is lacking (dl-05)', async ({ skip }) => {
    const folder = mounted();
    if (folder === undefined) return skip('Only root may mount a small disk.');
    const one = await bench({ 'tiny.gguf': content(32_000_000) }, { folder });
    const error = await code(one.downloads.start({ repo: REPO, file: 'tiny.gguf' }));
    expect(error).toMatchObject({ code: 'disk_full', needed: 32_000_000 });
    expect(error.available).toBeLessThan(21 * MB);
    expect(one.hub.asked).toHaveLength(0);
  });

  it('while it fills up keeps what is there, and goes on once there is room', async ({ skip }) => {
    const folder = mounted();
    if (folder === undefined) return skip('Only root may mount a small disk.');
    const file = content(3 * MB);
    const ballast = join(folder, 'ballast');
    const one = await bench({ 'tiny.gguf': file }, { folder });
    one.hub.behaviour = (count) => {
      if (count === 1) writeFileSync(ballast, content(18 * MB));
      return undefined;
    };
    const failed = await get(one);
    expect(failed).toMatchObject({ phase: 'failed', error: { code: 'disk_full' } });
    expect(failed.doneBytes).toBeGreaterThan(MB);
    expect(failed.error?.needed).toBe(file.length - failed.doneBytes);
    rmSync(ballast);
    await one.downloads.resume(failed.id);
    expect((await ended(one, failed.id)).phase).toBe('done');
    expect(one.hub.sent).toBeLessThan(2 * file.length);
    expect(same(place(one), file)).toBe(true);
  });
});

describe('an import', () => {
  it('copies each model of a folder, compared with the original', async () => {
    const disk = tempFolder();
    const file = content(300 * KB);
    mkdirSync(join(disk, 'deep'));
    writeFileSync(join(disk, 'deep', 'model.gguf'), file);
    mkdirSync(join(disk, 'hf'));
    for (const [name, text] of [
      ['config.json', '{}'],
      ['tokenizer.json', '{}'],
      ['model.safetensors', 'w'],
      ['notes.txt', 'n'],
    ] as const)
      writeFileSync(join(disk, 'hf', name), text);
    const one = await bench({});
    const begun = await one.downloads.import(disk);
    expect(begun).toHaveLength(2);
    for (const { id } of begun) expect(await ended(one, id)).toMatchObject({ phase: 'done', source: 'disk' });
    const { found } = await scanFolder(one.folder);
    expect(found).toHaveLength(2);
    expect(same(found.find(({ isFolder }) => !isFolder)?.path ?? '', file)).toBe(true);
    expect(readdirSync(found.find(({ isFolder }) => isFolder)?.path ?? '').sort()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ]);
  });

  it('of nothing, and of what is here already, is refused in words', async () => {
    const one = await bench({});
    expect((await code(one.downloads.import(join(one.folder, 'none')))).code).toBe('file_not_found');
    expect((await code(one.downloads.import(tempFolder()))).code).toBe('file_not_found');
    expect((await code(one.downloads.import(one.folder))).code).toBe('invalid_request');
  });
});
