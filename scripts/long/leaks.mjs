// `npm run long -- leaks [--seconds N]`: many small requests to the real app over HTTP, half of them streamed, a tenth cut off by the client,
// some with logprobs (120 s). Server and runtime must hold as much memory, as many files and as many threads as after the first hundred.
// Linux only: it reads /proc.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { readyApp } from '../setup/real-app.mjs';
import { giveUp, say } from '../setup/say.mjs';
import { root } from '../setup/setup.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '120' } } });
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1) giveUp('--seconds needs a whole number.');
if (process.platform !== 'linux') {
  say('Skipped: what a process holds is read from /proc.');
  process.exit(0);
}

const WARM_UP = 100;
/** As many are asked however slow the machine is, and no more than the others. */
const LEAST = 100;
const MOST = 500;
const MOST_BYTES = 48 * 2 ** 20;

/** For the app and the processes that it starts. */
process.env.NODE_OPTIONS = `--import ${pathToFileURL(join(root, 'scripts/setup/collect.mjs')).href}`;
const app = await readyApp();

async function ask(i) {
  const controller = new AbortController();
  const stream = i % 2 === 0;
  const response = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: app.model,
      messages: [{ role: 'user', content: `Question ${i}: what is ${i * 7} + ${i}?` }],
      max_tokens: 16,
      stream,
      ...(i % 6 === 5 && { logprobs: true, top_logprobs: 3 }),
    }),
    signal: controller.signal,
  });
  if (!response.ok) throw new Error(`request ${i}: ${response.status} ${await response.text()}`);
  if (i % 10 !== 0) return response.text();
  const reader = response.body.getReader();
  await reader.read();
  controller.abort();
}

/** Server and runtime; the probe comes and goes as it likes. */
function processes() {
  const children = readFileSync(`/proc/${app.pid}/task/${app.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const isRuntime = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('runtime');
    } catch {
      return false; // a probe that has ended in between
    }
  };
  return [app.pid, ...children.filter(isRuntime)];
}

/** Anonymous memory with what was swapped out, open files, threads. */
function held() {
  const sum = { bytes: 0, files: 0, threads: 0 };
  for (const pid of processes()) {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    sum.bytes += (field('RssAnon') + field('VmSwap')) * 1024;
    sum.files += readdirSync(`/proc/${pid}/fd`).length;
    sum.threads += field('Threads');
  }
  return sum;
}

/** What the pool of keys and values has grown to: it keeps what was read until it has its bound, and that is no leak. */
async function pooled() {
  const response = await fetch(`${app.url}/hearth/v1/state`, { headers: { authorization: `Bearer ${app.token}` } });
  return (await response.json()).memory.kvBytesTotal;
}

/** Connections that are kept open for a while, and worker threads that rest, are none of a leak's business. */
async function settled() {
  await new Promise((resolve) => setTimeout(resolve, 6000));
  const sum = held();
  return { ...sum, bytes: sum.bytes - (await pooled()) };
}

let failure;
try {
  const until = Date.now() + seconds * 1000;
  let done = 0;
  for (; done < WARM_UP; done++) await ask(done);
  const before = await settled();
  const hasMore = () => done < WARM_UP + LEAST || (done < WARM_UP + MOST && Date.now() < until);
  for (; hasMore(); done++) await ask(done);
  const after = await settled();
  const grown = after.bytes - before.bytes;
  say(`${done} requests; ${JSON.stringify(before)} became ${JSON.stringify(after)}`);
  if (grown > MOST_BYTES) failure = `Memory grew by ${(grown / 1e6).toFixed(0)} MB.`;
  if (after.files > before.files) failure = `${after.files - before.files} files more are open.`;
  if (after.threads > before.threads) failure = `${after.threads - before.threads} threads more run.`;
} catch (error) {
  failure = error.message;
}
await app.close();
if (failure) giveUp(failure);
say('Nothing leaked.');
