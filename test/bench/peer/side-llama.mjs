// The peer's side: node-llama-cpp as its documentation shows it for raw tokens, CPU only, prebuilt binary, flash attention on, greedy.
import { pathToFileURL } from 'node:url';
import { request, runSide } from './side.mjs';

const { model: path, threads, peer } = request;
const CONTEXT = 2304;
const BATCH_CONTEXT = 256;

let model;
const contexts = new Map();

/** One context for one sequence and one for many, each made once, outside of what is timed. */
async function prepare({ sequences }) {
  if (contexts.has(sequences)) return;
  const context = await model.createContext({
    sequences,
    contextSize: sequences === 1 ? CONTEXT : BATCH_CONTEXT,
    batchSize: 512,
    flashAttention: true,
    threads: { ideal: threads, min: threads },
    ignoreMemorySafetyChecks: true,
  });
  contexts.set(sequences, context);
}

async function load() {
  const { getLlama, LlamaLogLevel } = await import(pathToFileURL(peer).href);
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    maxThreads: threads,
    logLevel: LlamaLogLevel.error,
    logger: (level, text) => process.stderr.write(`${level}: ${text}\n`),
  });
  model = await llama.loadModel({ modelPath: path, gpuLayers: 0, ignoreMemorySafetyChecks: true });
  const vocabulary = model.fileInfo.metadata.tokenizer.ggml.tokens.length;
  return { pid: process.pid, vocabulary, describe: `${llama.buildType}, llama.cpp ${llama.llamaCppRelease.release}` };
}

async function write(prompts, count) {
  const sequences = prompts.map(() => contexts.get(prompts.length).getSequence());
  const times = await Promise.all(
    sequences.map(async (sequence, i) => {
      const at = [];
      // A random model may well choose an end token: it counts like any other.
      for await (const _ of sequence.evaluate(prompts[i], { temperature: 0, yieldEogToken: true })) {
        at.push(performance.now());
        if (at.length === count) break;
      }
      return at;
    }),
  );
  for (const sequence of sequences) await sequence.dispose();
  return times;
}

await runSide({ load, prepare, write });
process.exit(0);
