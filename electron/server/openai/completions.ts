// POST /v1/completions: raw text on, for one prompt or many. No chat, no template, no channels: what the model writes is the text.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Usage } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import type { GenerationEvent } from '../../contract/runtime';
import { identity, identityHeaders, usableModel, type ServerContext } from '../context';
import { openAiError } from '../errors';
import { clientSignal, EventStream } from '../event-stream';
import { answerId } from '../request-id';
import {
  collect,
  failureOf,
  openAiFinish,
  openAiUsage,
  type Answer,
  type OpenAiUsage,
  type PartsEvent,
} from './answer';
import { completionRequest, type CompletionRequest } from './completion-request';
import { begun, generations, letGo } from './generation';
import { legacyLogprobs } from './legacy-logprobs';

interface Head {
  id: string;
  object: 'text_completion';
  created: number;
  model: string;
}

/** Channels have no meaning here: a runtime that saw some delivers them in the order of writing. */
const textOf = (event: PartsEvent) => event.parts.map((part) => part.delta).join('');

/** Several prompts: each counts once, however many choices it has. */
function usageOf(usages: readonly Usage[], { works }: CompletionRequest): OpenAiUsage {
  const all = openAiUsage(usages);
  const firsts = usages.filter((_, index) => works[index]?.prompt !== works[index - 1]?.prompt);
  const sum = (pick: (usage: Usage) => number) => firsts.reduce((total, usage) => total + pick(usage), 0);
  const prompt = sum((usage) => usage.promptTokens);
  return {
    ...all,
    prompt_tokens: prompt,
    total_tokens: prompt + all.completion_tokens,
    prompt_tokens_details: { cached_tokens: sum((usage) => usage.cachedTokens) },
  };
}

function choice(answer: Answer, index: number, wanted: CompletionRequest) {
  const { echo: prompt, reason } = answer.end;
  const work = wanted.works[index];
  const generated = wanted.promptOnly ? '' : answer.reasoning + answer.text;
  const before = wanted.echo ? (prompt?.text ?? (typeof work?.prompt === 'string' ? work.prompt : '')) : '';
  if (wanted.echo && wanted.logprobs !== undefined && !prompt) {
    throw new HearthError('unsupported_parameter', 'echo: the model gave no numbers for the prompt.', {
      param: 'echo',
    });
  }
  return {
    index,
    text: before + generated,
    logprobs:
      wanted.logprobs === undefined
        ? null
        : legacyLogprobs(wanted.promptOnly ? [] : answer.logprobs, wanted.echo ? prompt : undefined),
    finish_reason: wanted.promptOnly ? 'length' : openAiFinish(reason),
    hearth: { finish: reason, seed: work?.sampling.seed },
  };
}

async function streamOne(
  stream: EventStream,
  head: Head,
  wanted: CompletionRequest,
  index: number,
  events: AsyncIterable<GenerationEvent>,
): Promise<Usage> {
  const send = (text: string, rest: Record<string, unknown> = {}) =>
    stream.send({ ...head, choices: [{ index, text, logprobs: null, finish_reason: null, ...rest }] });
  const prompt = wanted.works[index]?.prompt;
  if (wanted.echo && typeof prompt === 'string') await send(prompt);
  let offset = 0;
  for await (const event of events) {
    if (event.kind === 'parts' && event.parts.length > 0) {
      const text = textOf(event);
      const { logprobs: given = [] } = event;
      await send(text, wanted.logprobs === undefined ? {} : { logprobs: legacyLogprobs(given, undefined, offset) });
      offset += [...text].length;
    }
    if (event.kind !== 'end') continue;
    const failure = failureOf(event);
    if (failure) throw failure;
    await send('', { finish_reason: openAiFinish(event.reason), hearth: { finish: event.reason } });
    return event.usage;
  }
  throw new HearthError('internal', 'The generation ended without an end.');
}

export function completionRoute(app: FastifyInstance, context: ServerContext): void {
  const config = { access: 'key', shared: true } as const;
  app.post('/completions', { config }, async (request: FastifyRequest, reply: FastifyReply) => {
    const wanted = completionRequest(request.body, request.cacheScope);
    const model = await usableModel(context, wanted.model);
    const leave = new AbortController();
    const signal = AbortSignal.any([clientSignal(reply), leave.signal]);
    const works = wanted.works.map(({ prompt: _, ...work }) => work);
    const runs = generations(context, model, works, request.id, signal);
    const id = answerId('cmpl', request.id);
    const head: Head = { id, object: 'text_completion', created: Math.floor(Date.now() / 1000), model: model.name };
    try {
      if (!wanted.stream) {
        const answers = await Promise.all(runs.map(collect));
        const choices = answers.map((answer, index) => choice(answer, index, wanted));
        const usage = usageOf(
          answers.map(({ end }) => end.usage),
          wanted,
        );
        return await reply.headers(identityHeaders(identity(context, model))).send({ ...head, choices, usage });
      }
      const started = await Promise.all(runs.map((run) => begun(run, failureOf)));
      reply.headers(identityHeaders(identity(context, model)));
      const stream = new EventStream(reply);
      await streamCompletion(stream, head, wanted, started);
      stream.end();
    } finally {
      leave.abort();
      letGo(runs);
    }
  });
}

async function streamCompletion(
  stream: EventStream,
  head: Head,
  wanted: CompletionRequest,
  runs: readonly AsyncIterable<GenerationEvent>[],
): Promise<void> {
  try {
    const usages = await Promise.all(runs.map((run, index) => streamOne(stream, head, wanted, index, run)));
    if (wanted.includeUsage) await stream.send({ ...head, choices: [], usage: usageOf(usages, wanted) });
    await stream.send('[DONE]');
  } catch (error) {
    await stream.send(openAiError(HearthError.from(error)));
  }
}
