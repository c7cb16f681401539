// `npm run long -- swap-series [--seconds N]`: two clients ask two models by turns that may not be in memory together (600 s). Nobody may
// fail or wait for more than two swaps, every answer must be, byte for byte, the one of an undisturbed run, and no runtime may be left.
import { parseArgs } from 'node:util';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { giveUp, say } from '../setup/say.mjs';
import { root } from '../setup/setup.mjs';
import { ask as complete, own, swapApp } from '../setup/swap-app.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    first: { type: 'string', default: join(root, 'resources/starter/starter.gguf') },
    second: { type: 'string', default: join(root, 'test/fixtures/oracles/gptoss/tiny.gguf') },
    /** Gigabytes for all models together: enough for the larger one, and not for both. */
    memory: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1) giveUp('--seconds needs a whole number.');
for (const path of [values.first, values.second]) if (!existsSync(path)) giveUp(`There is no ${path}.`);

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ask = (app, model, prompt, onFirst) => complete(app, { model, prompt, tokens: 48, onFirst });
const any = (list) => list[Math.floor(Math.random() * list.length)];

/** What each takes of the memory at the least. */
async function sizes(app) {
  const plans = [];
  for (const model of app.models) plans.push(await own(app, `/models/plan?model=${model}`));
  return plans.map(({ choices }) => {
    const { weightBytes, kvBytes, scratchBytes } = choices.at(-1).fit;
    return weightBytes + kvBytes + scratchBytes;
  });
}

/** The app with both models in its own folder, the first one loaded. */
const start = (memory) => swapApp(values, memory);

const PROMPTS = ['Once upon a time', 'The moon is', 'A list of things:', 'Why do'];

/** Each question of each model, answered alone. */
async function undisturbed() {
  const app = await start();
  try {
    const whole = new Map();
    for (const model of app.models) {
      for (const prompt of PROMPTS) whole.set(`${model} ${prompt}`, (await ask(app, model, prompt)).text);
    }
    return { whole, sizes: await sizes(app) };
  } finally {
    await app.close();
  }
}

const counts = { answers: 0, swaps: 0, mostSwaps: 0 };
const firstMs = [];
const failures = [];

/** Counts swaps as the models in memory change. */
async function watch(app, until) {
  let before;
  while (Date.now() < until && failures.length === 0) {
    const { loaded } = await own(app, '/state');
    const names = loaded.filter(({ state }) => state === 'ready').map(({ name }) => name);
    if (names.length > 1) failures.push(`both models were in memory: ${names.join(', ')}`);
    if (names.length === 1 && names[0] !== before) {
      if (before !== undefined) counts.swaps += 1;
      before = names[0];
    }
    await pause(10);
  }
}

async function client(app, whole, until) {
  while (Date.now() < until && failures.length === 0) {
    const model = any(app.models);
    const prompt = any(PROMPTS);
    const before = counts.swaps;
    const onFirst = () => (counts.mostSwaps = Math.max(counts.mostSwaps, counts.swaps - before));
    try {
      const { text, firstMs: first } = await ask(app, model, prompt, onFirst);
      firstMs.push(first);
      counts.answers += 1;
      if (text !== whole.get(`${model} ${prompt}`)) failures.push(`${model} gave another answer to ${prompt}`);
    } catch (error) {
      failures.push(error.message);
    }
    if (Math.random() < 0.3) await pause(Math.random() * 500);
  }
}

const { whole, sizes: bytes } = await undisturbed();
const memory = values.memory ?? ((Math.max(...bytes) + Math.min(...bytes) / 2) / 1e9).toFixed(3);
say(
  `The models take ${bytes.map((count) => (count / 1e6).toFixed(0)).join(' and ')} MB; there are ${memory} GB for both.`,
);
const app = await start(memory);
const until = Date.now() + seconds * 1000;
try {
  await Promise.all([watch(app, until), client(app, whole, until), client(app, whole, until)]);
  await own(app, '/models/unload', {});
} catch (error) {
  failures.push(error.message);
}
await app.close();
const at = (share) => firstMs.sort((one, two) => one - two)[Math.floor(share * (firstMs.length - 1))]?.toFixed(0);
say(
  `${counts.answers} answers, ${counts.swaps} swaps, at most ${counts.mostSwaps} for one answer; ` +
    `first words after ${at(0.5)} ms at the median, ${at(0.95)} ms at the 95th percentile, ${at(1)} ms at most.`,
);
if (failures.length > 0) giveUp(failures.slice(0, 5).join('\n'));
if (counts.mostSwaps > 2) giveUp(`Somebody waited for ${counts.mostSwaps} swaps.`);
if (counts.swaps < 2) giveUp('The models were not swapped: the check has checked nothing.');
