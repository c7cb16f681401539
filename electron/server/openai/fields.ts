// Fields that several of OpenAI's requests share: their schema, and what they mean in the contract's words.
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Effort, Sampling } from '../../contract/chat';
import { THOUGHT_TOKENS } from '../../contract/own';
import { invalid, unsupported } from '../validate';

/** Clients write null for what they do not mean to say. */
export const maybe = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);

const finite = z.number();

export const samplingFields = {
  temperature: maybe(finite.min(0).max(2)),
  top_p: maybe(finite.min(0).max(1)),
  frequency_penalty: maybe(finite.min(-2).max(2)),
  presence_penalty: maybe(finite.min(-2).max(2)),
  seed: maybe(z.number().refine(Number.isInteger, 'expected an integer')),
  logit_bias: maybe(z.record(z.string(), finite.min(-100).max(100))),
  // Not OpenAI's, but what local servers take.
  top_k: maybe(z.int().min(-1)),
  min_p: maybe(finite.min(0).max(1)),
  repetition_penalty: maybe(finite.gt(0).max(10)),
};

export const commonFields = {
  model: z.string().min(1),
  stream: maybe(z.boolean()),
  stream_options: maybe(z.looseObject({ include_usage: maybe(z.boolean()) })),
  stop: maybe(z.union([z.string(), z.array(z.string())])),
  n: maybe(z.int().min(1)),
  user: maybe(z.string()),
  service_tier: maybe(z.string()),
  ...samplingFields,
};

type SamplingFields = z.output<z.ZodObject<typeof samplingFields>>;

/** Seeds of ours are not negative; every integer that a client may send leads to one, always the same. */
export function seedFrom(seed: number | undefined): number {
  if (seed === undefined) return drawSeed();
  const range = 2 ** 48;
  return ((Math.trunc(seed) % range) + range) % range;
}

export const drawSeed = (): number => randomInt(2 ** 48 - 1);

/** The n-th of several answers has a seed of its own, the first one the request's. */
export const nthSeed = (seed: number, n: number): number => (seed + n) % Number.MAX_SAFE_INTEGER;

function logitBias(map: Record<string, number>): [number, number][] {
  return Object.entries(map).map(([token, bias]) => {
    if (!/^\d{1,7}$/.test(token))
      throw invalid('logit_bias', `logit_bias: "${token.slice(0, 20)}" is not the id of a token.`);
    return [Number(token), bias];
  });
}

export function samplingOf(fields: SamplingFields): Sampling {
  const { temperature, top_p, min_p, top_k, frequency_penalty, presence_penalty, repetition_penalty, logit_bias } =
    fields;
  const sampling: Sampling = { seed: seedFrom(fields.seed) };
  if (temperature !== undefined) sampling.temperature = temperature;
  // Zero means "the likeliest alone", which the smallest positive value says as well.
  if (top_p !== undefined) sampling.topP = Math.max(top_p, 1e-9);
  if (min_p !== undefined) sampling.minP = min_p;
  if (top_k !== undefined) sampling.topK = Math.max(0, top_k);
  if (frequency_penalty !== undefined) sampling.frequencyPenalty = frequency_penalty;
  if (presence_penalty !== undefined) sampling.presencePenalty = presence_penalty;
  if (repetition_penalty !== undefined) sampling.repetitionPenalty = repetition_penalty;
  if (logit_bias !== undefined) sampling.logitBias = logitBias(logit_bias);
  return sampling;
}

const MAX_STOPS = 16;

/** Empty strings stop nothing and are left out. */
export function stopsOf(stop: string | string[] | undefined): string[] {
  const stops = [stop ?? []].flat().filter((text) => text !== '');
  if (stops.length > MAX_STOPS)
    throw invalid('stop', `stop: at most ${MAX_STOPS} texts are possible, ${stops.length} were given.`);
  return stops;
}

export const MAX_CHOICES = 8;

export function choicesOf(n: number | undefined): number {
  if (n !== undefined && n > MAX_CHOICES)
    throw invalid('n', `n: at most ${MAX_CHOICES} answers are possible, ${n} were asked for.`);
  return n ?? 1;
}

/** OpenAI's tier for work that can wait. */
export const priorityOf = (tier: string | undefined): 'interactive' | 'background' =>
  tier === 'flex' ? 'background' : 'interactive';

interface Thinking {
  effort: Effort;
  /** Most tokens of thought. */
  thoughtTokens: number;
}

/** OpenAI's levels on the three that the models know; the cap on thoughts makes the rest of the difference. */
const EFFORTS: Record<string, Thinking> = {
  none: { effort: 'low', thoughtTokens: 0 },
  minimal: { effort: 'low', thoughtTokens: 128 },
  low: { effort: 'low', thoughtTokens: THOUGHT_TOKENS.low },
  medium: { effort: 'medium', thoughtTokens: THOUGHT_TOKENS.medium },
  high: { effort: 'high', thoughtTokens: THOUGHT_TOKENS.high },
  xhigh: { effort: 'high', thoughtTokens: 4 * THOUGHT_TOKENS.high },
};

/** Where the whole answer may be no longer than the cap, the cap has nothing to add: the answer ends as `length`. */
export function thinkingOf(
  effort: string | undefined,
  maxTokens: number | undefined,
): { effort: Effort; thoughtTokens?: number } {
  const thinking = EFFORTS[effort ?? 'medium'];
  if (!thinking) {
    throw invalid('reasoning_effort', `reasoning_effort: ${Object.keys(EFFORTS).join(', ')} are possible.`);
  }
  const capped = maxTokens === undefined || thinking.thoughtTokens < maxTokens;
  return { effort: thinking.effort, ...(capped && { thoughtTokens: thinking.thoughtTokens }) };
}

/** -1 is what some clients write for "no limit". */
export const tokenLimit = maybe(z.int().min(-1)).transform((value) => (value === -1 ? undefined : value));

/** Fields whose meaning would be lost without a word if they were passed over. */
export function refuseFields(
  body: unknown,
  fields: Record<string, (value: unknown) => boolean>,
  why: Record<string, string> = {},
) {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, harmless] of Object.entries(fields)) {
    const value = (body as Record<string, unknown>)[name];
    if (value === undefined || value === null || harmless(value)) continue;
    throw unsupported(name, why[name] ?? `${name} is not supported.`);
  }
}
