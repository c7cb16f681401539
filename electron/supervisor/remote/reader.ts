// What an engine elsewhere answers, in the contract's words: chunks of a stream, or one whole answer, in; events out. Pure: no clock, no socket.
// Everything in a chunk is optional and nothing is believed: what is not of the expected kind is passed over.
import { z } from 'zod';
import type { FinishReason, TokenLogprob, Usage } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import type { Part } from '../../contract/runtime';
import { errorInAnswer } from './errors';

const maybe = <S extends z.ZodType>(schema: S) => schema.nullish().catch(undefined);
const text = maybe(z.string());
const count = maybe(z.int().min(0));

const callDelta = z.looseObject({
  index: count,
  id: text,
  function: maybe(z.looseObject({ name: text, arguments: text })),
});
const delta = z.looseObject({
  content: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: maybe(z.array(callDelta)),
});
const topLogprob = z.looseObject({ token: z.string(), logprob: z.number(), bytes: maybe(z.array(z.int())) });
const logprobs = z.looseObject({
  /** Of a chat. */
  content: maybe(z.array(topLogprob.extend({ top_logprobs: maybe(z.array(topLogprob)) }))),
  /** Of a completion: lists side by side. */
  tokens: maybe(z.array(z.string())),
  token_logprobs: maybe(z.array(z.number().nullable())),
  top_logprobs: maybe(z.array(z.record(z.string(), z.number()).nullable())),
});
const choice = z.looseObject({
  index: count,
  delta: maybe(delta),
  message: maybe(delta),
  text,
  logprobs: maybe(logprobs),
  finish_reason: text,
  /** Another Hearth says more exactly how it ended. */
  hearth: maybe(z.looseObject({ finish: text })),
});
const usage = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: maybe(z.looseObject({ cached_tokens: count })),
  completion_tokens_details: maybe(z.looseObject({ reasoning_tokens: count })),
});
const chunk = z.looseObject({ choices: maybe(z.array(choice)), usage: maybe(usage), error: z.unknown().optional() });

type Choice = z.output<typeof choice>;
type CallDelta = z.output<typeof callDelta>;

export interface Delivered {
  parts: Part[];
  logprobs: TokenLogprob[];
}

const FINISHES: Record<string, FinishReason> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'stop',
  repetition: 'repetition',
};

/** One answer, from its first chunk to its end. */
export class RemoteReader {
  private finish: FinishReason | undefined;
  private told: z.output<typeof usage> | undefined;
  private readonly calls = new CallReader();
  /** Pieces that came: at least so many tokens were written. */
  private pieces = { text: 0, reasoning: 0, tool: 0 };
  private done = false;

  /** `key`: what must not come back in the words of an error. */
  constructor(private readonly key?: string) {}

  /** Each is a token at least. */
  get textPieces(): number {
    return this.pieces.text;
  }

  /** `data` of one event. Throws HearthError: the engine's own failure, or `remote_failed` where it is no JSON. */
  push(data: string): Delivered {
    if (data.trim() === '[DONE]') {
      this.done = true;
      return { parts: [], logprobs: [] };
    }
    return this.take(parseJson(data));
  }

  /** An answer that came as one piece, though a stream was asked for. */
  whole(data: string): Delivered {
    this.done = true;
    return this.take(parseJson(data));
  }

  /** How it ended; `remote_failed` where it broke off. */
  end(): { reason: FinishReason; usage: Usage; parts: Part[] } {
    if (this.finish === undefined && !this.done) {
      throw new HearthError('remote_failed', 'The engine broke off in the middle of its answer.');
    }
    const reason = this.finish ?? 'stop';
    return {
      reason: reason === 'stop' && this.calls.count > 0 ? 'tool_calls' : reason,
      usage: this.usage(),
      parts: this.calls.end(),
    };
  }

  /** What was used so far, by the engine's count or at least by ours. */
  usage(): Usage {
    const { text: written, reasoning, tool } = this.pieces;
    const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = this.told ?? {};
    return {
      promptTokens: prompt_tokens ?? 0,
      completionTokens: completion_tokens ?? written + reasoning + tool,
      reasoningTokens: completion_tokens_details?.reasoning_tokens ?? reasoning,
      cachedTokens: prompt_tokens_details?.cached_tokens ?? 0,
    };
  }

  private take(json: unknown): Delivered {
    const parsed = chunk.safeParse(json);
    if (!parsed.success) throw new HearthError('remote_failed', 'The engine sent something that is no answer.');
    const { choices, usage: used, error } = parsed.data;
    if (error !== undefined && error !== null) throw errorInAnswer(json, this.key);
    if (used) this.told = used;
    // One answer was asked for; a second one has nobody to read it.
    const first = choices?.find(({ index }) => (index ?? 0) === 0);
    if (!first) return { parts: [], logprobs: [] };
    const parts = this.partsOf(first);
    for (const { channel } of parts) this.pieces[channel] += 1;
    const reason = first.hearth?.finish ?? first.finish_reason;
    if (reason) this.finish = FINISHES[reason] ?? FINISHES[first.finish_reason ?? ''] ?? 'stop';
    return { parts, logprobs: first.logprobs ? logprobsOf(first.logprobs) : [] };
  }

  private partsOf({ delta: change, message, text: completion }: Choice): Part[] {
    const said = change ?? message ?? {};
    const reasoning = said.reasoning_content ?? said.reasoning;
    const written = said.content ?? completion;
    return [
      ...(reasoning ? [{ channel: 'reasoning' as const, delta: reasoning }] : []),
      ...(written ? [{ channel: 'text' as const, delta: written }] : []),
      ...(said.tool_calls ?? []).flatMap((call, place) => this.calls.take(call, place)),
    ];
  }
}

interface OpenCall {
  number: number;
  id: string | undefined;
  name: string | undefined;
  /** Arguments that came before the name. */
  held: string;
  told: boolean;
}

/** Tool calls as they come: some servers number them, some only change the id, some send the arguments before the name. */
class CallReader {
  private readonly calls = new Map<number, OpenCall>();
  private last: OpenCall | undefined;

  get count(): number {
    return this.calls.size;
  }

  take({ index, id, function: called }: CallDelta, place: number): Part[] {
    const call = this.find(index ?? undefined, id ?? undefined, place);
    call.id ??= id ?? undefined;
    call.name ??= called?.name || undefined;
    const args = called?.arguments ?? '';
    if (call.told) return args === '' ? [] : [{ channel: 'tool', call: call.number, delta: args }];
    call.held += args;
    return call.name === undefined ? [] : [this.open(call)];
  }

  /** Calls that were never named: what was written to them is not lost. */
  end(): Part[] {
    return [...this.calls.values()].filter((call) => !call.told).map((call) => this.open(call));
  }

  private open(call: OpenCall): Part {
    call.told = true;
    const { number, id = `call_${number}`, name = '', held } = call;
    return { channel: 'tool', call: number, id, name, delta: held };
  }

  private find(index: number | undefined, id: string | undefined, place: number): OpenCall {
    const goesOn = this.last && (id === undefined || id === '' || id === this.last.id) ? this.last : undefined;
    const known = index === undefined ? goesOn : this.calls.get(index);
    if (known) return (this.last = known);
    const number = index ?? Math.max(place, this.calls.size);
    const call: OpenCall = { number, id: undefined, name: undefined, held: '', told: false };
    this.calls.set(number, call);
    return (this.last = call);
  }
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new HearthError('remote_failed', 'The engine sent something that is no JSON.', { cause });
  }
}

const described = ({ token, logprob, bytes }: z.output<typeof topLogprob>) => ({
  token,
  logprob,
  bytes: bytes ?? [...new TextEncoder().encode(token)],
});

function logprobsOf({ content, tokens, token_logprobs, top_logprobs }: z.output<typeof logprobs>): TokenLogprob[] {
  if (content) return content.map((entry) => ({ ...described(entry), top: (entry.top_logprobs ?? []).map(described) }));
  return (tokens ?? []).map((token, i) => ({
    ...described({ token, logprob: token_logprobs?.[i] ?? 0 }),
    top: Object.entries(top_logprobs?.[i] ?? {}).map(([other, logprob]) => described({ token: other, logprob })),
  }));
}
