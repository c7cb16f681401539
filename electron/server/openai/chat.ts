// POST /v1/chat/completions: one answer or a stream of chunks, in OpenAI's shapes.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Usage } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import type { GenerationEvent, Part } from '../../contract/runtime';
import type { LibraryModel } from '../../library/types';
import { identity, identityHeaders, usableModel, type Identity, type ServerContext } from '../context';
import { isoDate } from '../dates';
import { openAiError } from '../errors';
import { clientSignal, EventStream } from '../event-stream';
import { answerId } from '../request-id';
import { unsupported } from '../validate';
import {
  collect,
  failureOf,
  openAiFinish,
  openAiLogprob,
  openAiUsage,
  type Answer,
  type EndEvent,
  type PartsEvent,
} from './answer';
import { chatRequest, type ChatRequest } from './chat-request';
import { begun, generations, letGo } from './generation';

/** What is the same in every chunk of one answer. */
interface Head {
  id: string;
  created: number;
  model: string;
  system_fingerprint: string | null;
}

function headOf(request: FastifyRequest, model: LibraryModel, { modelId, engineBuild }: Identity): Head {
  const print = `${engineBuild}-${modelId}`.replace(/[^\w.-]/g, '').slice(0, 24);
  return {
    id: answerId('chatcmpl', request.id),
    created: Math.floor(Date.now() / 1000),
    model: model.name,
    system_fingerprint: print.length > 1 ? `fp_${print}` : null,
  };
}

/** What OpenAI has no field for: the true end, and what is needed to ask the same again. */
function hearthField(end: EndEvent, seed: number) {
  return { finish: end.reason, seed, timings: end.timings };
}

function message({ text, reasoning, calls }: Answer) {
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
      })),
    }),
  };
}

function completion(head: Head, wanted: ChatRequest, answers: readonly Answer[]) {
  return {
    ...head,
    object: 'chat.completion',
    choices: answers.map((answer, index) => ({
      index,
      message: message(answer),
      logprobs: wanted.logprobs ? { content: answer.logprobs.map(openAiLogprob), refusal: null } : null,
      finish_reason: openAiFinish(answer.end.reason),
      hearth: hearthField(answer.end, wanted.works[index]?.sampling.seed ?? 0),
    })),
    usage: openAiUsage(answers.map(({ end }) => end.usage)),
  };
}

/** Of a tool call, id, type and name come once; arguments follow as they are written. */
function toolDelta({ call, id, name, delta }: Extract<Part, { channel: 'tool' }>) {
  if (id === undefined && name === undefined) return { index: call, function: { arguments: delta } };
  return { index: call, id: id ?? '', type: 'function', function: { name: name ?? '', arguments: delta } };
}

/** The chunks of one choice. */
class ChoiceStream {
  constructor(
    private readonly stream: EventStream,
    private readonly head: Head,
    private readonly wanted: ChatRequest,
    private readonly index: number,
  ) {}

  chunk(delta: Record<string, unknown>, rest: Record<string, unknown> = {}): Promise<void> {
    const choice = { index: this.index, delta, logprobs: null, finish_reason: null, ...rest };
    const usage = this.wanted.includeUsage ? { usage: null } : {};
    return this.stream.send({ ...this.head, object: 'chat.completion.chunk', choices: [choice], ...usage });
  }

  async parts(event: PartsEvent): Promise<void> {
    let logprobs = this.wanted.logprobs ? (event.logprobs ?? []).map(openAiLogprob) : [];
    const take = () => {
      const rest = logprobs.length > 0 ? { logprobs: { content: logprobs, refusal: null } } : {};
      logprobs = [];
      return rest;
    };
    for (const part of event.parts) {
      if (part.channel === 'reasoning') await this.chunk({ reasoning_content: part.delta });
      else if (part.channel === 'text') await this.chunk({ content: part.delta }, take());
      else await this.chunk({ tool_calls: [toolDelta(part)] });
    }
    // They may come a step after their text.
    if (logprobs.length > 0) await this.chunk({ content: '' }, take());
  }

  end(end: EndEvent): Promise<void> {
    const hearth = hearthField(end, this.wanted.works[this.index]?.sampling.seed ?? 0);
    return this.chunk({}, { finish_reason: openAiFinish(end.reason), hearth });
  }

  /** Sends one choice to its end and gives what it used. */
  async run(events: AsyncIterable<GenerationEvent>): Promise<Usage> {
    await this.chunk({ role: 'assistant', content: '', refusal: null });
    for await (const event of events) {
      if (event.kind === 'parts') await this.parts(event);
      if (event.kind !== 'end') continue;
      const failure = failureOf(event);
      if (failure) throw failure;
      await this.end(event);
      return event.usage;
    }
    throw new HearthError('internal', 'The generation ended without an end.');
  }
}

async function streamChat(
  stream: EventStream,
  head: Head,
  wanted: ChatRequest,
  runs: readonly AsyncIterable<GenerationEvent>[],
): Promise<void> {
  const usages = await Promise.all(runs.map((run, index) => new ChoiceStream(stream, head, wanted, index).run(run)));
  if (wanted.includeUsage) {
    await stream.send({ ...head, object: 'chat.completion.chunk', choices: [], usage: openAiUsage(usages) });
  }
  await stream.send('[DONE]');
}

function refuseByAbility(model: LibraryModel, wanted: ChatRequest): void {
  const [work] = wanted.works;
  if (work?.input.kind !== 'chat' || !model.abilities) return;
  const { tools = [], toolChoice = 'auto' } = work.input.chat;
  if (!model.abilities.tools && tools.length > 0 && toolChoice !== 'none') {
    throw unsupported('tools', `The model ${model.name} cannot call tools.`);
  }
}

export function chatRoute(app: FastifyInstance, context: ServerContext): void {
  const config = { access: 'key', shared: true } as const;
  app.post('/chat/completions', { config }, async (request: FastifyRequest, reply: FastifyReply) => {
    const wanted = chatRequest(request.body, isoDate(new Date()), request.cacheScope);
    const model = await usableModel(context, wanted.model);
    refuseByAbility(model, wanted);
    const leave = new AbortController();
    const signal = AbortSignal.any([clientSignal(reply), leave.signal]);
    const runs = generations(context, model, wanted.works, request.id, signal);
    try {
      if (!wanted.stream) {
        const answers = await Promise.all(runs.map(collect));
        const known = identity(context, model);
        return await reply
          .headers(identityHeaders(known))
          .send(completion(headOf(request, model, known), wanted, answers));
      }
      const started = await Promise.all(runs.map((run) => begun(run, failureOf)));
      const known = identity(context, model);
      reply.headers(identityHeaders(known));
      const stream = new EventStream(reply);
      await streamChat(stream, headOf(request, model, known), wanted, started).catch((error: unknown) =>
        stream.send(openAiError(HearthError.from(error))),
      );
      stream.end();
    } finally {
      // Where one of several choices failed, the others have nobody left to answer.
      leave.abort();
      letGo(runs);
    }
  });
}
