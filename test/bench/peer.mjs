// `npm run long -- peer --model FILE [--pairs 5] [--only load,decode,…] [--threads 2] [--out FILE]`: the peer and Hearth in turn on the
// same file (A B A B). Each run is a fresh process that finds the file in the page cache. What was found is written after every run, and
// a later call with the same --out goes on where it stopped. The result is JSON in --out and a Markdown table on standard output.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { giveUp, say } from '../../scripts/setup/say.mjs';
import { root } from '../../scripts/setup/setup.mjs';
import { runSideOnce, warm } from './peer/child.mjs';
import { PEER, PEER_VERSION, installPeer } from './peer/install.mjs';
import { PARTS, SELECTABLE } from './peer/parts.mjs';
import { markdown, summarise } from './peer/summary.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    pairs: { type: 'string', default: '5' },
    only: { type: 'string', default: SELECTABLE.join(',') },
    threads: { type: 'string', default: '2' },
    out: { type: 'string', default: join(root, 'build/bench/peer.json') },
  },
});
if (process.platform !== 'linux') giveUp('The comparison reads /proc: it runs on Linux only.');
if (!values.model || !existsSync(values.model)) giveUp('Which model? npm run long -- peer --model FILE.gguf');
const model = resolve(values.model);
const parts = values.only.split(',');
const unknown = parts.find((name) => !SELECTABLE.includes(name));
if (unknown) giveUp(`There is no part ${unknown}; there are ${SELECTABLE.join(', ')}.`);
const [pairs, threads] = [values.pairs, values.threads].map(Number);
if (![pairs, threads].every((count) => Number.isInteger(count) && count > 0))
  giveUp('--pairs and --threads are counts.');

const setting = {
  model,
  bytes: statSync(model).size,
  threads,
  peer: `${PEER} ${PEER_VERSION}`,
  processor: cpus()[0].model,
};
const result = existsSync(values.out) ? JSON.parse(readFileSync(values.out, 'utf8')) : { setting, runs: [] };
if (JSON.stringify(result.setting) !== JSON.stringify(setting)) {
  giveUp(`${values.out} holds runs of another setting: give another --out.`);
}
const peer = await installPeer();

function save() {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify({ ...result, summary: summarise(result.runs) }, null, 1)}\n`);
}

/** The parts that this side has not done in this pair. */
function missing(pair, side) {
  const done = result.runs
    .filter((run) => run.pair === pair && run.side === side)
    .flatMap((run) => Object.keys(run.parts));
  return parts.filter((name) => !done.includes(name));
}

async function run(pair, side, wanted) {
  const warmed = await warm(model);
  const busy = loadavg()[0];
  say(`pair ${pair}, ${side}: file read in ${warmed.toFixed(1)} s, load average ${busy.toFixed(2)}`);
  const request = { model, threads, parts: wanted, salt: `pair ${pair}`, peer };
  const found = await runSideOnce(side, request, (name, value) => {
    say(`  ${PARTS[name].title}: ${value.toFixed(2)} ${PARTS[name].unit}`);
  });
  say(`  ${PARTS.memory.title}: ${found.parts.memory.toFixed(0)} MB`);
  // Every run loads and has a peak; only what was asked for counts.
  const kept = Object.entries(found.parts).filter(([name]) => name === 'memory' || wanted.includes(name));
  result.runs.push({
    pair,
    side,
    at: new Date().toISOString(),
    loadAverage: busy,
    ...found,
    parts: Object.fromEntries(kept),
  });
  save();
}

for (let pair = 1; pair <= pairs; pair++) {
  for (const side of ['llama', 'hearth']) {
    const wanted = missing(pair, side);
    if (wanted.length > 0) await run(pair, side, wanted);
  }
}
save();
process.stdout.write(markdown(summarise(result.runs)));
