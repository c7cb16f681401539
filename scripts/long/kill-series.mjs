// `npm run long -- kill-series [--seconds N] [--model M]`: kill -9 of the runtime in the middle of answers, and now and then of the app
// itself. Every answer must be, byte for byte, the one of an undisturbed run, and no runtime may outlive its app. Linux only.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readyApp } from '../setup/real-app.mjs';
import { giveUp, say } from '../setup/say.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' }, model: { type: 'string' } } });
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1) giveUp('--seconds needs a whole number.');
if (process.platform !== 'linux') {
  say('Skipped: the processes are found through /proc.');
  process.exit(0);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** A model that was given up is loaded anew: after fewer kills than that, the count is taken back by an unload. */
const KILLS_PER_LOAD = 3;

function runtimes(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.map(Number).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0').includes('runtime');
    } catch {
      return false;
    }
  });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const own = ({ url, token }, path, method = 'POST') =>
  fetch(`${url}/hearth/v1${path}`, { method, headers: { authorization: `Bearer ${token}` } });

const start = () => readyApp(values.model ? ['--model', values.model] : []);

/** The whole answer as text; `onPart` is told of each part as it comes. */
async function ask({ url, model }, seed, onPart = () => undefined) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      seed,
      stream: true,
      temperature: 1.3,
      max_tokens: 400,
      messages: [{ role: 'user', content: `Tell me a long story, number ${seed}.` }],
    }),
  });
  let text = '';
  let held = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    held += decoder.decode(bytes, { stream: true });
    const events = held.split('\n\n');
    held = events.pop();
    for (const event of events.map((lines) => lines.replace(/^data: /, '')).filter((data) => data !== '[DONE]')) {
      const { choices, error } = JSON.parse(event);
      if (error) throw new Error(`the answer ended with an error: ${error.message}`);
      const { delta = {}, finish_reason: finish } = choices[0] ?? {};
      const piece = delta.reasoning_content ?? delta.content ?? '';
      text += finish ? `|${finish}` : piece;
      if (piece) onPart();
    }
  }
  return text;
}

/** Kills the runtime after a random part. */
async function disturbed(app, seed) {
  let left = 1 + Math.floor(Math.random() * 40);
  let killed = false;
  const text = await ask(app, seed, () => {
    if (--left !== 0) return;
    const [runtime] = runtimes(app.pid);
    if (runtime) process.kill(runtime, 'SIGKILL');
    killed = Boolean(runtime);
  });
  return { text, killed };
}

const until = Date.now() + seconds * 1000;
let app = await start();
const counts = { answers: 0, kills: 0, apps: 0 };
let failure;
try {
  for (let round = 1; Date.now() < until && !failure; round++) {
    const whole = await ask(app, round);
    const { text, killed } = await disturbed(app, round);
    counts.answers += 1;
    if (killed) counts.kills += 1;
    if (text !== whole) failure = `answer ${round} differs after a kill:\n${whole}\n---\n${text}`;
    if (round % KILLS_PER_LOAD === 0) await own(app, '/models/unload');
    if (round % 7 !== 0 || failure) continue;
    await ask(app, round);
    const orphans = runtimes(app.pid);
    process.kill(app.pid, 'SIGKILL');
    counts.apps += 1;
    await pause(5000);
    if (orphans.some(isAlive)) failure = `a runtime outlived its killed app by 5 s`;
    await app.close();
    app = await start();
  }
} catch (error) {
  failure = error.message;
}
await app.close();
say(`${counts.answers} answers compared, ${counts.kills} runtimes and ${counts.apps} apps killed.`);
if (failure) giveUp(failure);
