// POST /v1/chat/completions: from the body to the work of a generation. Pure but for the seed, which is drawn where none is given.
import { z } from 'zod';
import { chatInput, tool as toolSchema, type ResponseFormat, type Tool, type ToolChoice } from '../../contract/chat';
import type { GenerateWork } from '../../supervisor/types';
import { invalid, parse, unsupported } from '../validate';
import {
  choicesOf,
  commonFields,
  maybe,
  nthSeed,
  priorityOf,
  refuseFields,
  samplingOf,
  stopsOf,
  thinkingOf,
  tokenLimit,
} from './fields';
import { chatMessages } from './messages';

const functionTool = z.looseObject({
  type: z.string(),
  function: maybe(
    z.looseObject({
      name: z.string(),
      description: maybe(z.string()),
      parameters: maybe(z.record(z.string(), z.unknown())),
    }),
  ),
});

const namedChoice = z.looseObject({ type: z.string(), function: maybe(z.looseObject({ name: z.string() })) });

const format = z.looseObject({
  type: z.string(),
  json_schema: maybe(
    z.looseObject({
      name: maybe(z.string()),
      description: maybe(z.string()),
      schema: maybe(z.record(z.string(), z.unknown())),
    }),
  ),
});

const schema = z.looseObject({
  ...commonFields,
  messages: z.array(z.unknown()).min(1),
  max_tokens: tokenLimit,
  max_completion_tokens: tokenLimit,
  logprobs: maybe(z.boolean()),
  top_logprobs: maybe(z.int().min(0).max(20)),
  reasoning_effort: maybe(z.string()),
  reasoning: maybe(z.looseObject({ effort: maybe(z.string()) })),
  tools: maybe(z.array(functionTool)),
  tool_choice: maybe(z.union([z.string(), namedChoice])),
  response_format: maybe(format),
});
type Body = z.output<typeof schema>;

const isTextOnly = (value: unknown) => Array.isArray(value) && value.every((entry) => entry === 'text');
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
const never = () => false;

const REFUSED = {
  functions: isEmpty,
  function_call: never,
  audio: never,
  modalities: isTextOnly,
  web_search_options: never,
};
const WHY = {
  functions: 'functions is not supported: use tools.',
  function_call: 'function_call is not supported: use tool_choice.',
  modalities: 'modalities: only text can be answered.',
};

const MAX_TOOLS = 256;

function toolsOf(tools: Body['tools'] = []): Tool[] {
  if (tools.length > MAX_TOOLS)
    throw invalid('tools', `tools: at most ${MAX_TOOLS} are possible, ${tools.length} were given.`);
  const names = new Set<string>();
  return tools.map((entry, index) => {
    const at = `tools[${index}]`;
    if (entry.type !== 'function') throw unsupported(`${at}.type`, `${at}.type: only function is supported.`);
    if (!entry.function) throw invalid(`${at}.function`, `${at}.function: an object with a name is expected.`);
    const { name, description, parameters } = entry.function;
    if (!toolSchema.shape.name.safeParse(name).success) {
      throw invalid(
        `${at}.function.name`,
        `${at}.function.name: letters, digits, dots, dashes and underscores, at most 128.`,
      );
    }
    if (names.has(name)) throw invalid(`${at}.function.name`, `${at}.function.name: two tools are called ${name}.`);
    names.add(name);
    return { name, ...(description !== undefined && { description }), ...(parameters !== undefined && { parameters }) };
  });
}

function toolChoiceOf(choice: Body['tool_choice'], tools: readonly Tool[]): ToolChoice {
  if (choice === undefined) return 'auto';
  if (choice === 'none' || choice === 'auto') return choice;
  if (tools.length === 0) throw invalid('tool_choice', 'tool_choice: there are no tools to choose from.');
  if (choice === 'required') return choice;
  if (typeof choice === 'string')
    throw invalid('tool_choice', 'tool_choice: none, auto, required or a function are possible.');
  if (choice.type !== 'function' || !choice.function)
    throw unsupported('tool_choice', 'tool_choice: only a function can be named.');
  const { name } = choice.function;
  if (!tools.some((entry) => entry.name === name))
    throw invalid('tool_choice', `tool_choice: no tool is called ${name.slice(0, 128)}.`);
  return { name };
}

function formatOf(wanted: Body['response_format']): ResponseFormat {
  switch (wanted?.type) {
    case undefined:
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json_object' };
    case 'json_schema': {
      const { json_schema: inner } = wanted;
      if (!inner?.schema)
        throw invalid('response_format.json_schema', 'response_format.json_schema.schema: a JSON schema is expected.');
      const { name = 'answer', description, schema: body } = inner;
      return { type: 'json_schema', name, schema: body, ...(description !== undefined && { description }) };
    }
    default:
      throw invalid('response_format.type', 'response_format.type: text, json_object and json_schema are possible.');
  }
}

function logprobsOf({ logprobs, top_logprobs }: Body): number | undefined {
  if (top_logprobs !== undefined && !logprobs) throw invalid('top_logprobs', 'top_logprobs: it needs logprobs: true.');
  return logprobs ? (top_logprobs ?? 0) : undefined;
}

function limitOf({ max_completion_tokens, max_tokens }: Body): number | undefined {
  const [param, limit] =
    max_completion_tokens === undefined
      ? (['max_tokens', max_tokens] as const)
      : (['max_completion_tokens', max_completion_tokens] as const);
  if (limit !== undefined && limit < 1) throw invalid(param, `${param}: at least 1 token is expected.`);
  return limit;
}

export interface ChatRequest {
  model: string;
  stream: boolean;
  includeUsage: boolean;
  /** Whether logprobs were asked for. */
  logprobs: boolean;
  /** One per choice. */
  works: GenerateWork[];
}

/** `today`: ISO date for the prompt. */
export function chatRequest(raw: unknown, today: string, cacheScope: string): ChatRequest {
  const body = parse(schema, raw);
  refuseFields(raw, REFUSED, WHY);
  const tools = toolsOf(body.tools);
  const maxTokens = limitOf(body);
  const { effort, thoughtTokens } = thinkingOf(body.reasoning_effort ?? body.reasoning?.effort, maxTokens);
  const sampling = samplingOf(body);
  const logprobs = logprobsOf(body);
  const chat = chatInput.parse({
    messages: chatMessages(body.messages),
    tools,
    toolChoice: toolChoiceOf(body.tool_choice, tools),
    responseFormat: formatOf(body.response_format),
    effort,
    date: today,
  });
  const work = {
    input: { kind: 'chat' as const, chat },
    ...(maxTokens !== undefined && { maxTokens }),
    ...(thoughtTokens !== undefined && { thoughtTokens }),
    ...(logprobs !== undefined && { logprobs }),
    stop: stopsOf(body.stop),
    priority: priorityOf(body.service_tier),
    cacheScope,
  };
  return {
    model: body.model,
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    logprobs: logprobs !== undefined,
    works: Array.from({ length: choicesOf(body.n) }, (_, n) => ({
      ...work,
      sampling: { ...sampling, seed: nthSeed(sampling.seed, n) },
    })),
  };
}
