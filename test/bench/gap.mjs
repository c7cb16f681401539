// `npm run long -- gap --model FILE [--prompt 4096] [--repeat 3] [--threads 0]`: while one request's long prompt is read, how long does
// another one's stream stand still, and how much slower is the prompt read? Both are measured alone first. JSON on standard output.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startRuntime } from '../../scripts/setup/runtime-client.mjs';
import { giveUp, say } from '../../scripts/setup/say.mjs';
import { prompts } from './peer/parts.mjs';
import { median } from './peer/summary.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    prompt: { type: 'string', default: '4096' },
    repeat: { type: 'string', default: '3' },
    threads: { type: 'string', default: '0' },
  },
});
if (!values.model || !existsSync(values.model)) giveUp('Which model? npm run long -- gap --model FILE.gguf');
const [length, repeat, threads] = [values.prompt, values.repeat, values.threads].map(Number);
if (![length, repeat].every((count) => count >= 1)) giveUp('--prompt and --repeat are counts.');

/** Tokens of the stream before the long prompt comes. */
const LEAD = 16;
const ALONE = 64;
const STREAM_PROMPT = 64;

const runtime = await startRuntime();
const { model, kernels, context } = await runtime.call('load', { path: resolve(values.model), threads });
if (context < length + 64) giveUp(`The context of ${context} tokens is too small for a prompt of ${length}.`);
let salt = 0;
const request = (tokens, maxTokens) => ({
  input: { kind: 'tokens', tokens: prompts({ tokens, sequences: 1 }, model.vocabulary, `gap ${++salt}`)[0] },
  sampling: { temperature: 1, seed: salt },
  maxTokens,
});

/** Milliseconds to the first token of a prompt of `length`. */
async function read() {
  const begun = performance.now();
  let first;
  await runtime.generate(
    request(length, 1),
    (event) => (first ??= event.kind === 'parts' ? performance.now() : undefined),
  );
  return first - begun;
}

/** A stream whose times of tokens grow in `at` until `stop`. */
function stream(id, maxTokens) {
  const at = [];
  const waiters = [];
  const done = runtime.generate({ id, ...request(STREAM_PROMPT, maxTokens) }, (event) => {
    if (event.kind !== 'parts') return;
    for (const _ of event.tokenIds) at.push(performance.now());
    for (const wake of waiters.splice(0)) wake();
  });
  return {
    at,
    done,
    async until(count) {
      while (at.length < count) {
        const more = new Promise((wake) => waiters.push(() => wake(true)));
        if (!(await Promise.race([more, done.then(() => at.length >= count)])))
          throw new Error(`the stream ended after ${at.length} tokens`);
      }
    },
    stop: () => runtime.call('cancel', { id }),
  };
}

const gaps = (at) => at.slice(1).map((time, i) => time - at[i]);
function percentile(list, share) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
const spread = (list) => ({
  count: list.length,
  p50: percentile(list, 0.5),
  p99: percentile(list, 0.99),
  max: percentile(list, 1),
});

await runtime.generate(request(STREAM_PROMPT, 4));
const rounds = [];
for (let round = 1; round <= repeat; round++) {
  const aloneMs = await read();
  const alone = stream(`alone ${round}`, ALONE);
  await alone.done;
  // Long enough that it outlasts the prompt whatever happens; it is cancelled.
  const beside = stream(`beside ${round}`, context - STREAM_PROMPT - 1);
  await beside.until(LEAD);
  const from = beside.at.at(-1);
  const besideMs = await read();
  const to = performance.now();
  await beside.until(beside.at.length + 1);
  await beside.stop();
  await beside.done;
  const during = gaps(beside.at.filter((at, i) => at >= from && (beside.at[i - 1] ?? 0) <= to));
  rounds.push({ aloneMs, besideMs, speed: aloneMs / besideMs, stepAlone: spread(gaps(alone.at)), during });
  const { p50, p99, max } = spread(during);
  say(
    `round ${round}: prompt ${Math.round(aloneMs)} ms alone, ${Math.round(besideMs)} ms beside the stream; ` +
      `gaps p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, max ${max.toFixed(0)} ms`,
  );
}
await runtime.close();
const result = {
  kernels,
  prompt: length,
  prompt_tps_alone: (length * 1000) / median(rounds.map(({ aloneMs }) => aloneMs)),
  prompt_speed_beside: median(rounds.map(({ speed }) => speed)),
  decode_step_ms: median(rounds.map(({ stepAlone }) => stepAlone.p50)),
  gap_ms: spread(rounds.flatMap(({ during }) => during)),
  rounds: rounds.map(({ during, ...rest }) => ({ ...rest, gap: spread(during) })),
};
process.stdout.write(`${JSON.stringify(result, null, 1)}\n`);
process.exit(0);
