// Hearth's side: the built runtime process, spoken to as the app does, with the app's load options but for the cache on disk. Tokens are drawn at temperature
// 1: a random model that is asked for the likeliest ones falls into a loop, which Hearth would end.
import { startRuntime } from '../../../scripts/setup/runtime-client.mjs';
import { request, runSide, tell } from './side.mjs';

const { model: path, threads } = request;
let runtime;

async function load() {
  runtime = await startRuntime();
  tell({ pid: runtime.pid }); // the load's memory is counted too
  const loaded = await runtime.call('load', { path, threads });
  return {
    pid: runtime.pid,
    vocabulary: loaded.model.vocabulary,
    describe: `${loaded.kernels}, ${loaded.engineBuild}`,
  };
}

function write(prompts, count) {
  return Promise.all(
    prompts.map(async (tokens, i) => {
      const at = [];
      const work = { input: { kind: 'tokens', tokens }, sampling: { temperature: 1, seed: i + 1 }, maxTokens: count };
      const end = await runtime.generate(work, (event) => {
        if (event.kind === 'parts') for (const _ of event.tokenIds) at.push(performance.now());
      });
      if (end.error) throw new Error(end.error.message);
      return at;
    }),
  );
}

async function about() {
  const { kvBytesTotal, scratchBytes } = await runtime.call('stats');
  return { kvBytesTotal, scratchBytes };
}

await runSide({ load, write, about, close: () => runtime.close() });
process.exit(0);
