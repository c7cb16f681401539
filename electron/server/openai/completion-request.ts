// POST /v1/completions: from the body to the work of its generations, one per prompt and choice.
import { z } from 'zod';
import type { GenerateWork } from '../../supervisor/types';
import { invalid, parse, unsupported } from '../validate';
import { choicesOf, commonFields, maybe, nthSeed, priorityOf, refuseFields, samplingOf, stopsOf } from './fields';

const MAX_PROMPTS = 128;
/** OpenAI's default for this address alone. */
const DEFAULT_TOKENS = 16;

const token = z.int().min(0);
const schema = z.looseObject({
  ...commonFields,
  prompt: z.union([z.string(), z.array(z.string()), z.array(token), z.array(z.array(token))]),
  max_tokens: maybe(z.int().min(-1)),
  echo: maybe(z.boolean()),
  logprobs: maybe(z.union([z.boolean(), z.int().min(0).max(20)])),
});
type Body = z.output<typeof schema>;

export type Prompt = string | number[];

/** A list of token ids is one prompt; a list of texts or of such lists is several. */
export function promptsOf(prompt: Body['prompt']): Prompt[] {
  const list: Prompt[] =
    typeof prompt === 'string' ? [prompt] : typeof prompt[0] === 'number' ? [prompt as number[]] : (prompt as Prompt[]);
  if (list.length === 0 || list.some((entry) => entry.length === 0)) throw invalid('prompt', 'prompt: it is empty.');
  if (list.length > MAX_PROMPTS)
    throw invalid('prompt', `prompt: at most ${MAX_PROMPTS} are possible, ${list.length} were given.`);
  return list;
}

export interface CompletionRequest {
  model: string;
  stream: boolean;
  includeUsage: boolean;
  echo: boolean;
  /** Alternatives per token; absent: no logprobs. */
  logprobs?: number;
  /** The prompt's numbers alone are wanted: what is generated is thrown away. */
  promptOnly: boolean;
  works: (GenerateWork & { prompt: Prompt })[];
}

function logprobsOf(logprobs: Body['logprobs']): number | undefined {
  if (typeof logprobs === 'boolean') return logprobs ? 0 : undefined;
  return logprobs;
}

/** An engine that has read a prompt always knows one token more: nought is "one, thrown away". */
function limitOf(maxTokens: number | undefined, echo: boolean): number | undefined {
  if (maxTokens === -1) return undefined;
  if (maxTokens === 0 && !echo)
    throw invalid('max_tokens', 'max_tokens: at least 1 token is expected, or 0 with echo.');
  return Math.max(1, maxTokens ?? DEFAULT_TOKENS);
}

const isOne = (value: unknown) => value === 1;
const isEmpty = (value: unknown) => value === '';

export function completionRequest(raw: unknown, cacheScope: string): CompletionRequest {
  const body = parse(schema, raw);
  refuseFields(raw, { best_of: isOne, suffix: isEmpty });
  const echo = body.echo ?? false;
  const stream = body.stream ?? false;
  const logprobs = logprobsOf(body.logprobs);
  const prompts = promptsOf(body.prompt);
  if (echo && stream && (logprobs !== undefined || typeof prompts[0] !== 'string')) {
    throw unsupported('echo', 'echo: in a stream it works for prompts that are texts, without logprobs.');
  }
  const maxTokens = limitOf(body.max_tokens, echo);
  const sampling = samplingOf(body);
  const work = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(logprobs !== undefined && { logprobs }),
    stop: stopsOf(body.stop),
    priority: priorityOf(body.service_tier),
    cacheScope,
  };
  const choices = Array.from({ length: choicesOf(body.n) }, (_, n) => nthSeed(sampling.seed, n));
  return {
    model: body.model,
    stream,
    includeUsage: body.stream_options?.include_usage ?? false,
    echo,
    ...(logprobs !== undefined && { logprobs }),
    promptOnly: body.max_tokens === 0,
    works: prompts.flatMap((prompt) =>
      choices.map((seed) => ({
        ...work,
        prompt,
        // A text is at hand; the engine is asked for its numbers, and for the text of tokens.
        echo: echo && (logprobs !== undefined || typeof prompt !== 'string'),
        input:
          typeof prompt === 'string'
            ? { kind: 'text' as const, text: prompt }
            : { kind: 'tokens' as const, tokens: prompt },
        sampling: { ...sampling, seed },
      })),
    ),
  };
}
