// `npm run long -- swap-to --second FILE [--memory GB]`: how long the first word of a large model takes when it must wait for the last
// answer of a small one. It has room for one of them only; the large one's file should be in the system's cache (read once before).
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { giveUp, say } from '../../setup/say.mjs';
import { root } from '../../setup/setup.mjs';
import { ask, own, swapApp } from '../../setup/swap-app.mjs';

const { values } = parseArgs({
  options: {
    first: { type: 'string', default: join(root, 'resources/starter/starter.gguf') },
    second: { type: 'string' },
    memory: { type: 'string' },
  },
});
if (!values.second) giveUp('--second needs the file of a model.');
const MOST_SECONDS = 10;

const needs = (fit) => fit.weightBytes + fit.kvBytes + fit.scratchBytes;

async function room() {
  const app = await swapApp(values);
  try {
    const plans = await Promise.all(app.models.map((model) => own(app, `/models/plan?model=${model}`)));
    const [small, large] = plans.map(({ choices }) => needs(choices.at(-1).fit));
    return (large + small / 2) / 1e9;
  } finally {
    await app.close();
  }
}

const memory = values.memory ?? (await room()).toFixed(2);
const app = await swapApp(values, memory);
let seconds;
try {
  let endedAt = 0;
  const running = ask(app, { model: 'first', prompt: 'Once upon a time', tokens: 600 }).then(
    () => (endedAt = performance.now()),
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  let firstAt = 0;
  const waiting = ask(app, {
    model: 'second',
    prompt: 'Once upon a time',
    tokens: 2,
    onFirst: () => (firstAt = performance.now()),
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { swap } = await own(app, '/state');
  await Promise.all([running, waiting]);
  seconds = (firstAt - endedAt) / 1000;
  say(
    `With ${memory} GB for both; announced while it waited: ${JSON.stringify(swap ?? 'nothing, the answer had ended')}.`,
  );
  say(`The first word came ${seconds.toFixed(2)} s after the last answer of the other model had ended.`);
} finally {
  await app.close();
}
if (seconds > MOST_SECONDS) giveUp(`That is more than ${MOST_SECONDS} s.`);
