// `npm run long -- download-kills [--seconds N] [--bytes N] [--kills N] [--rate BYTES]`: kill -9 of the app, at random, in the middle of a
// download from a server in this process. In the end the file must have the hub's hash, less than 1 % may have been sent twice, and what is
// shown must never have fallen. Without --seconds: 2 GB and 20 kills. --rate 0 sends as fast as it can.
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realApp } from '../setup/real-app.mjs';
import { giveUp, say } from '../setup/say.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    bytes: { type: 'string' },
    kills: { type: 'string' },
    rate: { type: 'string' },
  },
});
const short = values.seconds !== undefined;
const size = Number(values.bytes ?? (short ? 4e6 * Number(values.seconds) : 2e9));
/** As dense as twenty in 2 GB: what is under way at a kill is sent again however long the file is. */
const kills = Number(values.kills ?? Math.max(2, Math.round(size / 100e6)));
const rate = Number(values.rate ?? (short ? 10e6 : 40e6));
if (![size, kills, rate].every((value) => Number.isInteger(value) && value >= 0)) giveUp('Only whole numbers, please.');

const REPO = 'test/large';
const FILE = 'large.gguf';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Bytes that are the same each time and nowhere alike: a cipher's stream, from any position. */
const key = randomBytes(16);
function contentAt(start, length) {
  const counter = Buffer.alloc(16);
  const block = Math.floor(start / 16);
  counter.writeBigUInt64BE(BigInt(block), 8);
  const skipped = start - block * 16;
  return createCipheriv('aes-128-ctr', key, counter)
    .update(Buffer.alloc(skipped + length))
    .subarray(skipped);
}

function hashOfContent() {
  const hash = createHash('sha256');
  for (let at = 0; at < size; at += 1 << 20) hash.update(contentAt(at, Math.min(1 << 20, size - at)));
  return hash.digest('hex');
}

/** A hub with one file, that sends all its answers together at `rate` and counts what it handed to the system. */
async function startHub(sha256) {
  let sent = 0;
  let budget = 0;
  let last = Date.now();
  const PIECE = 32 * 1024;
  async function pour(response, start, end) {
    for (let at = start; at < end && !response.destroyed;) {
      if (rate > 0) {
        const now = Date.now();
        budget = Math.min(rate / 20, budget + ((now - last) * rate) / 1000);
        last = now;
        if (budget < PIECE) {
          await pause(5);
          continue;
        }
        budget -= PIECE;
      }
      const piece = contentAt(at, Math.min(PIECE, end - at));
      if (!response.write(piece)) await drained(response);
      sent += piece.length;
      at += piece.length;
    }
    response.end();
  }
  const drained = (response) =>
    new Promise((resolve) => {
      const go = () => {
        response.off('drain', go).off('close', go);
        resolve();
      };
      response.on('drain', go).on('close', go);
    });
  const server = createServer((request, response) => {
    if (request.url.startsWith('/api/models/')) {
      const siblings = [{ rfilename: FILE, size, lfs: { sha256, size } }];
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ id: REPO, sha: '1'.repeat(40), gated: false, tags: [], siblings }));
    }
    const [, first, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(first);
    const stop = Math.min(size, Number(end) + 1);
    response.writeHead(206, {
      etag: `"${sha256}"`,
      'content-length': stop - start,
      'content-range': `bytes ${start}-${stop - 1}/${size}`,
    });
    void pour(response, start, stop);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, sent: () => sent, close: () => server.close() };
}

async function ask({ url, token }, path, body) {
  const response = await fetch(`${url}/hearth/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

function hashOfFile(path) {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256');
    createReadStream(path)
      .on('data', (bytes) => hash.update(bytes))
      .on('error', reject)
      .on('end', () => resolve(hash.digest('hex')));
  });
}

const sha256 = hashOfContent();
const hub = await startHub(sha256);
process.env.HF_ENDPOINT = hub.url;
const data = mkdtempSync(join(tmpdir(), 'hearth-kills-'));
const started = Date.now();
let app = await realApp([], data);
let done = 0;
let killed = 0;
/** Sent after a kill, while the system put the process away. */
let dying = 0;
let failure;
/** Positions at which the app is killed, spread at random over the file. */
const places = Array.from({ length: kills }, () => Math.random() * 0.97 * size).sort((a, b) => a - b);
try {
  await ask(app, '/downloads', { repo: REPO, file: FILE });
  for (;;) {
    const [download] = (await ask(app, '/downloads')).downloads;
    if (!download) throw new Error('the download is not in the list any more');
    if (download.doneBytes < done) throw new Error(`what is shown fell from ${done} to ${download.doneBytes}`);
    done = download.doneBytes;
    if (download.phase === 'failed') throw new Error(`the download failed: ${download.error.message}`);
    if (download.phase === 'done') break;
    if (killed < kills && download.phase === 'fetching' && done >= places[killed]) {
      const before = hub.sent();
      process.kill(app.pid, 'SIGKILL');
      killed += 1;
      await app.ended;
      dying += hub.sent() - before;
      app = await realApp([], data);
    }
    await pause(40);
  }
  const path = join(data, 'models', REPO, FILE);
  if ((await hashOfFile(path)) !== sha256) failure = 'the file is not the one that was sent';
} catch (error) {
  failure = error.message;
}
await app.close();
hub.close();
rmSync(data, { recursive: true, force: true });
const again = hub.sent() - size;
const share = ((100 * again) / size).toFixed(2);
const seconds = ((Date.now() - started) / 1000).toFixed(0);
say(
  `${size} bytes in ${seconds} s, ${killed} kills, ${again} bytes sent again (${share} %), ` +
    `${dying} of them to a process that had been killed already; the shown progress never fell.`,
);
if (!failure && killed < kills) failure = `only ${killed} of ${kills} kills came in time`;
if (!failure && again >= size / 100) failure = `${share} % were sent again`;
if (failure) giveUp(failure);
process.exit(0);
