// `npm run long -- soak [--seconds N] [--model FILE]`: mixed requests with random cancels through the real runtime (600 s). At the end no
// block may be in use, nothing waiting, and the process's anonymous memory must be as it was after the warm-up, within 1 %. One greedy
// request is asked again and again in between and must always give the same tokens. Linux only: it reads /proc.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRuntime } from '../setup/runtime-client.mjs';
import { giveUp, say } from '../setup/say.mjs';
import { root } from '../setup/setup.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    model: { type: 'string', default: join(root, 'resources/starter/starter.gguf') },
  },
});
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1) giveUp('--seconds needs a whole number.');
if (process.platform !== 'linux') {
  say('Skipped: memory is read from /proc.');
  process.exit(0);
}

/** More than run at once, so that some always wait. */
const CLIENTS = 12;
/** So small that full sequences push each other out, and reached during the warm-up. */
const KV_BYTES = 48e6;
const CONTEXT = 2048;
const WARM_UP_SHARE = 0.4;
const SAMPLE_MS = 250;
/** What a short run may grow by all the same: it does not see the allocator's arenas come to rest. */
const SLACK_BYTES = seconds < 600 ? 24e6 : 0;

const any = (list) => list[Math.floor(Math.random() * list.length)];
const upTo = (most) => 1 + Math.floor(Math.random() * most);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const runtime = await startRuntime({ execArgv: ['--import', join(root, 'scripts/setup/collect.mjs')] });
const { model, context } = await runtime.call('load', { path: values.model, kvBytes: KV_BYTES, context: CONTEXT });
const systems = Array.from({ length: 5 }, () =>
  Array.from({ length: upTo(300) }, () => any(['ash', 'oak', 'elm'])).join(' '),
);

function input() {
  const kind = any(['chat', 'chat', 'text', 'tokens']);
  if (kind === 'text') return { kind, text: 'Once upon a time '.repeat(upTo(60)) };
  if (kind === 'tokens') {
    const tokens = Array.from({ length: upTo(900) }, () => Math.floor(Math.random() * model.vocabulary));
    return { kind, tokens };
  }
  const responseFormat = any([{ type: 'text' }, { type: 'text' }, { type: 'json_object' }]);
  const messages = [
    { role: 'system', content: any(systems) },
    { role: 'user', content: `Question ${upTo(1e6)}: ${'why '.repeat(upTo(40))}` },
  ];
  return { kind, chat: { messages, responseFormat, effort: any(['low', 'high']) } };
}

function request() {
  return {
    input: input(),
    sampling: {
      seed: upTo(1e9),
      temperature: any([0, 0.7, 1.3]),
      ...any([{}, {}, { topK: 20 }, { topP: 0.9, minP: 0.02 }, { repetitionPenalty: 1.1, presencePenalty: 0.5 }]),
    },
    maxTokens: upTo(any([16, 120, 600])),
    priority: any(['interactive', 'interactive', 'background']),
    cacheScope: any(['', '', 'other']),
    ...any([{}, {}, { logprobs: 3 }]),
  };
}

const counts = { answers: 0, cancelled: 0, tokens: 0, fixed: 0 };
const failures = [];
let lastId = 0;

async function client(until) {
  while (Date.now() < until && failures.length === 0) {
    const id = `soak-${++lastId}`;
    const cancelAfter = Math.random() < 0.3 ? Math.random() ** 3 * 2000 : undefined;
    const timer = cancelAfter !== undefined && setTimeout(() => void runtime.call('cancel', { id }), cancelAfter);
    try {
      const end = await runtime.generate({ id, ...request() });
      clearTimeout(timer);
      counts.answers += 1;
      counts.tokens += end.usage.completionTokens;
      if (end.reason === 'cancelled') counts.cancelled += 1;
      if (end.error) failures.push(`${id} ended with ${end.error.code}: ${end.error.message}`);
    } catch (error) {
      failures.push(`${id} was refused with ${error.code}: ${error.message}`);
    }
  }
}

/** The same greedy request, whatever else runs: the tokens must be the same. */
async function fixed(until) {
  const tokens = Array.from({ length: 300 }, (_, i) => (i * 7919 + 13) % model.vocabulary);
  let expected;
  while (Date.now() < until && failures.length === 0) {
    const given = [];
    const work = { input: { kind: 'tokens', tokens }, sampling: { temperature: 0, seed: 1 }, maxTokens: 40 };
    await runtime.generate(work, (event) => event.kind === 'parts' && given.push(...event.tokenIds));
    expected ??= given.join();
    if (given.join() !== expected) failures.push(`the fixed request gave other tokens:\n${expected}\n${given.join()}`);
    counts.fixed += 1;
    await pause(500);
  }
}

/** Anonymous memory over time. The floor of a stretch counts: what lies above it is the work of the moment. */
async function watch(until, samples) {
  while (Date.now() < until && failures.length === 0) {
    const { rssAnonBytes } = await runtime.call('stats');
    samples.push({ at: Date.now(), bytes: rssAnonBytes });
    await pause(SAMPLE_MS);
  }
}

const begun = Date.now();
const until = begun + seconds * 1000;
const samples = [];
await Promise.all([...Array.from({ length: CLIENTS }, () => client(until)), fixed(until), watch(until, samples)]);

const stats = await runtime.call('stats');
await runtime.close();
say(`${JSON.stringify(counts)}, context ${context}`);
if (failures.length > 0) giveUp(failures.slice(0, 5).join('\n'));
if (stats.running + stats.waiting + stats.blocksUsed > 0) {
  giveUp(`Left behind: ${stats.running} running, ${stats.waiting} waiting, ${stats.blocksUsed} blocks in use.`);
}
const floor = (from, to) => {
  const own = samples.filter(({ at }) => at >= begun + from * seconds * 1000 && at <= begun + to * seconds * 1000);
  return Math.min(...own.map(({ bytes }) => bytes));
};
const [before, after] = [floor(WARM_UP_SHARE, (1 + WARM_UP_SHARE) / 2), floor((1 + WARM_UP_SHARE) / 2, 1)];
const growth = after - before;
say(`anonymous memory: ${(before / 1e6).toFixed(1)} MB after the warm-up, ${(after / 1e6).toFixed(1)} MB at the end`);
if (!Number.isFinite(growth)) giveUp('Too few samples: the machine was too busy.');
if (growth > Math.max(before / 100, SLACK_BYTES)) giveUp(`Anonymous memory grew by ${(growth / 1e6).toFixed(1)} MB.`);
say('No block leaked, no error, the memory is flat.');
