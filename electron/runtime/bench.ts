// Measures a loaded engine once: the reading of prompts, writing, the gaps between tokens, and the memory that was held meanwhile.
// It is given an engine and prints nothing; what the work asks of the machine is bench-work.ts.
import type { BenchResult } from '../contract/runtime';
import type { NativeEvent, NativeRequest } from './addon';
import { processMemory } from './process-memory';

export interface BenchParams {
  prefill: number;
  decode: number;
  sequences: number;
  withinMs?: number | undefined;
}

/** Runs one request to its end and tells each event. */
export type RunRequest = (
  request: Omit<NativeRequest, 'id'>,
  onEvents: (events: NativeEvent[]) => void,
) => Promise<void>;

type Measured = Omit<BenchResult, 'kvBytes' | 'work'>;

const MEMORY_SAMPLE_MS = 20;

interface SequenceTimes {
  submitted: number;
  tokens: number[];
}

export async function bench(params: BenchParams, vocabulary: number, run: RunRequest): Promise<Measured> {
  let peak = processMemory().rssAnonBytes;
  const sampler = setInterval(() => (peak = Math.max(peak, processMemory().rssAnonBytes)), MEMORY_SAMPLE_MS);
  const sequences = Array.from({ length: params.sequences }, () => ({
    submitted: performance.now(),
    tokens: [] as number[],
  }));
  try {
    await Promise.all(sequences.map((times, i) => measure(params, vocabulary, i, times, run)));
  } finally {
    clearInterval(sampler);
  }
  return { ...summarise(params, sequences), peakAnonBytes: peak };
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

export function summarise(params: BenchParams, sequences: SequenceTimes[]): Omit<Measured, 'peakAnonBytes'> {
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
  };
}

function rate(count: number, ms: number): number {
  return ms > 0 ? (count * 1000) / ms : 0;
}

function percentile(values: number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? 0;
}
