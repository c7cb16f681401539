// One check of one model: the fixed prompts alone and together, the fast path against the exact one, a short measurement. It is given the
// ways to run the model and what is expected of it; it keeps nothing.
import { randomUUID } from 'node:crypto';
import { HearthError, type ErrorShape } from '../../contract/errors';
import type { CheckPhase, SelfCheck } from '../../contract/models';
import type { BenchResult, Loaded } from '../../contract/runtime';
import type { ModelRef, Supervisor } from '../types';
import { differing, judge, klDivergence, tokensHash, type Hashes } from './numbers';
import { ANSWER_TOKENS, EXACT_POSITIONS, EXACT_TEXT, PROMPTS } from './prompts';
import { bucketOf, median } from './rows';

type Runner = Pick<Supervisor, 'load' | 'generate' | 'call'>;
/** The model once more, computing in 32-bit floats. */
export type ExactRunner = Pick<Supervisor, 'call' | 'close'>;

export interface CheckParts {
  supervisor: Runner;
  exact(): ExactRunner;
  /** Hashes of this artifact as it is loaded, if it was ever checked. */
  expected(loaded: Loaded): Promise<Hashes | undefined>;
  onPhase(phase: CheckPhase): void;
}

export interface CheckOutcome {
  loaded: Loaded;
  hashes: Hashes;
  selfCheck: SelfCheck;
  /** Prompts that did not give the expected tokens, or not the same ones twice. */
  differing: string[];
  kl?: number;
  /** Why there is no KL. */
  exactError?: ErrorShape;
  speed: { prefillTps: number; decodeTps: number; ttftMs: number; memoryBytes: number };
  contextBucket: number;
}

const BENCH = { prefill: 256, decode: 32, sequences: 1 };
const REPEATS = 3;
/** Longer than any load and any measurement of a working engine. */
const EXACT_MS = 15 * 60_000;

export async function checkModel(parts: CheckParts, ref: ModelRef, signal: AbortSignal): Promise<CheckOutcome> {
  const { supervisor, onPhase } = parts;
  onPhase('loading');
  const loaded = await supervisor.load(ref);
  const expected = await parts.expected(loaded);
  onPhase('tokens');
  const alone: Record<string, string> = {};
  for (const name of Object.keys(PROMPTS)) alone[name] = await answerHash(supervisor, ref, name, signal);
  const names = Object.keys(PROMPTS);
  const hashes = await Promise.all(names.map((name) => answerHash(supervisor, ref, name, signal)));
  const together = Object.fromEntries(names.map((name, i) => [name, hashes[i] ?? '']));
  onPhase('exact');
  const compared = await comparePaths(parts, ref, signal);
  onPhase('speed');
  const speed = await measure(supervisor, ref, loaded, signal);
  return {
    loaded,
    hashes: alone,
    selfCheck: judge(alone, together, expected),
    differing: [...new Set([...differing(alone, together), ...(expected ? differing(alone, expected) : [])])],
    ...compared,
    ...speed,
  };
}

/** Of the tokens after one prompt at temperature 0. A cache scope of its own: it is computed, and not found. */
async function answerHash(supervisor: Runner, ref: ModelRef, name: string, signal: AbortSignal): Promise<string> {
  const events = supervisor.generate(
    ref,
    {
      input: { kind: 'text', text: PROMPTS[name] ?? '' },
      sampling: { temperature: 0, seed: 0 },
      maxTokens: ANSWER_TOKENS,
      cacheScope: `check-${randomUUID()}`,
      priority: 'background',
    },
    signal,
  );
  const tokens: number[] = [];
  for await (const event of events) {
    if (event.kind === 'parts') for (const token of event.tokenIds) tokens.push(token);
    if (event.kind === 'end' && event.reason === 'error') throw HearthError.from(event.error);
    if (event.kind === 'end' && event.reason === 'cancelled') throw givenUp();
  }
  return tokensHash(tokens);
}

/** Where the exact path cannot run (too little memory for both), the rest of the check still says something. */
async function comparePaths(
  { supervisor, exact }: CheckParts,
  ref: ModelRef,
  signal: AbortSignal,
): Promise<{ kl: number } | { exactError: ErrorShape }> {
  const runner = exact();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(EXACT_MS)]);
  const stop = () => void runner.close();
  limit.addEventListener('abort', stop, { once: true });
  try {
    const { tokens } = await supervisor.call(ref, 'tokenize', { text: EXACT_TEXT });
    const values: number[] = [];
    for (const position of EXACT_POSITIONS.filter((end) => end <= tokens.length)) {
      const prefix = { tokens: tokens.slice(0, position) };
      const fast = await supervisor.call(ref, 'logits', prefix);
      values.push(klDivergence((await runner.call(ref, 'logits', prefix)).logits, fast.logits));
    }
    const kl = values.reduce((sum, value) => sum + value, 0) / values.length;
    return Number.isFinite(kl)
      ? { kl }
      : { exactError: { code: 'numeric_error', message: 'The logits are no numbers.' } };
  } catch (error) {
    if (signal.aborted) throw givenUp();
    return { exactError: HearthError.from(error).toShape() };
  } finally {
    limit.removeEventListener('abort', stop);
    await runner.close();
  }
}

async function measure(
  supervisor: Runner,
  ref: ModelRef,
  { context }: Loaded,
  signal: AbortSignal,
): Promise<Pick<CheckOutcome, 'speed' | 'contextBucket'>> {
  const decode = Math.min(BENCH.decode, Math.max(1, Math.floor(context / 4)));
  const asked = { ...BENCH, decode, prefill: Math.max(1, Math.min(BENCH.prefill, context - decode)) };
  await supervisor.call(ref, 'bench', { prefill: Math.min(64, asked.prefill), decode: Math.min(4, decode) });
  const results: BenchResult[] = [];
  for (let i = 0; i < REPEATS; i++) {
    if (signal.aborted) throw givenUp();
    results.push(await supervisor.call(ref, 'bench', asked));
  }
  const middle = (value: (result: BenchResult) => number) => median(results.map(value)) ?? 0;
  return {
    speed: {
      prefillTps: middle(({ prefillTps }) => prefillTps),
      decodeTps: middle(({ decodeTps }) => decodeTps),
      ttftMs: middle(({ ttftMs }) => ttftMs),
      memoryBytes: Math.max(...results.map(({ peakAnonBytes }) => peakAnonBytes)),
    },
    contextBucket: bucketOf(asked.prefill + decode),
  };
}

function givenUp(): HearthError {
  return new HearthError('cancelled', 'The check was given up.');
}
