// Measures a loaded engine: reading of prompts, writing, the gaps between tokens, and how near that is to what the machine can do.
// It is given an engine and a clock and prints nothing.
import type { BenchResult } from '../contract/runtime';
import type { NativeEvent, NativeInspection, NativeMachineLimits, NativeRequest } from './addon';
import { processMemory } from './process-memory';

export interface BenchParams {
  prefill: number;
  decode: number;
  sequences: number;
}

/** Runs one request to its end and tells each event. */
export type RunRequest = (
  request: Omit<NativeRequest, 'id'>,
  onEvents: (events: NativeEvent[]) => void,
) => Promise<void>;

interface SequenceTimes {
  submitted: number;
  tokens: number[];
}

export async function bench(
  params: BenchParams,
  vocabulary: number,
  run: RunRequest,
): Promise<Omit<BenchResult, 'fractions'>> {
  const sequences = Array.from({ length: params.sequences }, () => ({
    submitted: performance.now(),
    tokens: [] as number[],
  }));
  await Promise.all(sequences.map((times, i) => measure(params, vocabulary, i, times, run)));
  return summarise(params, sequences);
}

/** A prompt of tokens drawn from the whole vocabulary, different in each run, so that no cache helps. */
function prompt(length: number, vocabulary: number, salt: number): Int32Array {
  let state = (salt * 2654435761 + 12345) >>> 0;
  return Int32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * vocabulary);
  });
}

async function measure(
  params: BenchParams,
  vocabulary: number,
  i: number,
  times: SequenceTimes,
  run: RunRequest,
): Promise<void> {
  const request = {
    prompt: prompt(params.prefill, vocabulary, Math.floor(Math.random() * 2 ** 31) + i),
    // Drawn at a high temperature, so that the loop detector does not end the measurement early.
    sampling: { temperature: 1, seed: i + 1 },
    maxTokens: params.decode,
  };
  await run(request, (events) => {
    const now = performance.now();
    for (const event of events) if (event.kind === 'token') times.tokens.push(now - (event.agoMs ?? 0));
  });
}

export function summarise(params: BenchParams, sequences: SequenceTimes[]): Omit<BenchResult, 'fractions'> {
  const begun = Math.min(...sequences.map(({ submitted }) => submitted));
  const firsts = sequences.map(({ tokens, submitted }) => tokens[0] ?? submitted);
  const allRead = Math.max(...firsts);
  const last = Math.max(...sequences.map(({ tokens }) => tokens.at(-1) ?? 0));
  const written = sequences.reduce((sum, { tokens }) => sum + tokens.filter((at) => at > allRead).length, 0);
  const gaps = sequences.flatMap(({ tokens }) => tokens.slice(1).map((at, i) => at - (tokens[i] ?? at)));
  const ttft = sequences.map(({ submitted }, i) => (firsts[i] ?? submitted) - submitted);
  return {
    prefillTps: rate(params.prefill * sequences.length, allRead - begun),
    decodeTps: rate(written, last - allRead),
    ttftMs: percentile(ttft, 0.5),
    tbtMs: {
      p50: percentile(gaps, 0.5),
      p95: percentile(gaps, 0.95),
      p99: percentile(gaps, 0.99),
      max: percentile(gaps, 1),
    },
    rssAnonBytes: processMemory().rssAnonBytes,
  };
}

/**
 * How much of the machine's limits was used. Decode: bytes of weights that a step must read, times steps per second, of the memory's
 * read rate. Prefill: two operations per active weight and token, of the int8 rate.
 */
export function fractions(
  measured: { prefillTps: number; decodeTps: number },
  params: BenchParams,
  inspection: NativeInspection,
  limits: NativeMachineLimits,
): BenchResult['fractions'] {
  const decode = activeWeights(inspection, params.sequences);
  const prefill = activeWeights(inspection, 1);
  const stepsPerSecond = measured.decodeTps / params.sequences;
  return {
    decodeBandwidth: ratio(stepsPerSecond * decode.bytes, limits.readBytesPerSecond),
    prefillCompute: ratio(measured.prefillTps * 2 * prefill.count, limits.int8OpsPerSecond),
  };
}

/** Weights that one step of `rows` tokens touches: of the experts the share that is expected to be chosen; no embedding table. */
function activeWeights({ tensors, model }: NativeInspection, rows: number): { bytes: number; count: number } {
  const share = model.experts > 0 ? 1 - (1 - model.expertsUsed / model.experts) ** rows : 1;
  const isEmbedding = (name: string) => /(^|\.)(token_embd|embed_tokens)\.weight$/.test(name);
  const hasOutput = tensors.some(({ name }) => /(^|\.)(output|lm_head)\.weight$/.test(name));
  let bytes = 0;
  let count = 0;
  for (const tensor of tensors) {
    if (isEmbedding(tensor.name) && hasOutput) continue;
    const factor = /exps|experts/.test(tensor.name) ? share : 1;
    bytes += tensor.bytes * factor;
    count += tensor.shape.reduce((product, side) => product * side, 1) * factor;
  }
  return { bytes, count };
}

function rate(count: number, ms: number): number {
  return ms > 0 ? (count * 1000) / ms : 0;
}

function ratio(value: number, limit: number): number {
  return limit > 0 ? value / limit : 0;
}

function percentile(values: number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? 0;
}
