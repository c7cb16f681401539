// A generation's events gathered into one answer, and the words of the contract in those of OpenAI. Pure but for reading the stream.
import type { FinishReason, TokenLogprob, ToolCall, Usage } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import type { GenerationEvent, Part } from '../../contract/runtime';

export type EndEvent = Extract<GenerationEvent, { kind: 'end' }>;
export type PartsEvent = Extract<GenerationEvent, { kind: 'parts' }>;

export interface Answer {
  text: string;
  reasoning: string;
  calls: ToolCall[];
  /** Of the tokens that are visible in `text`. */
  logprobs: TokenLogprob[];
  end: EndEvent;
}

/** A generation that did not come to an end of its own, as the error that it is. */
export function failureOf(end: EndEvent): HearthError | undefined {
  if (end.reason === 'error')
    return end.error ? HearthError.from(end.error) : new HearthError('internal', 'The generation failed.');
  if (end.reason === 'cancelled') return new HearthError('cancelled', 'The generation was cancelled.');
  return undefined;
}

/** Tool calls joined by their number; a model may open one and never name it. */
export class CallCollector {
  private readonly calls = new Map<number, ToolCall>();

  add(part: Extract<Part, { channel: 'tool' }>): void {
    const call = this.calls.get(part.call) ?? { id: '', name: '', arguments: '' };
    call.id ||= part.id ?? '';
    call.name ||= part.name ?? '';
    call.arguments += part.delta;
    this.calls.set(part.call, call);
  }

  list(): ToolCall[] {
    return [...this.calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
  }
}

/** Throws what the stream throws, and the failure it ended with. */
export async function collect(events: AsyncIterable<GenerationEvent>): Promise<Answer> {
  const calls = new CallCollector();
  const answer = { text: '', reasoning: '', logprobs: [] as TokenLogprob[] };
  for await (const event of events) {
    if (event.kind === 'parts') {
      for (const part of event.parts) {
        if (part.channel === 'tool') calls.add(part);
        else answer[part.channel] += part.delta;
      }
      // A runtime gives logprobs of visible tokens alone, sometimes a step after their text.
      answer.logprobs.push(...(event.logprobs ?? []));
    }
    if (event.kind === 'end') {
      const failure = failureOf(event);
      if (failure) throw failure;
      return { ...answer, calls: calls.list(), end: event };
    }
  }
  throw new HearthError('internal', 'The generation ended without an end.');
}

/** A loop that we broke off is an answer that was cut short: clients know that as `length`. The true reason is beside it. */
export function openAiFinish(reason: FinishReason): 'stop' | 'length' | 'tool_calls' {
  switch (reason) {
    case 'stop':
    case 'tool_calls':
      return reason;
    default:
      return 'length';
  }
}

export interface OpenAiUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

/** Of one prompt and all its answers: the prompt counts once, as OpenAI counts it. */
export function openAiUsage(usages: readonly Usage[]): OpenAiUsage {
  const sum = (pick: (usage: Usage) => number) => usages.reduce((total, usage) => total + pick(usage), 0);
  const prompt = usages[0]?.promptTokens ?? 0;
  const completion = sum((usage) => usage.completionTokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usages[0]?.cachedTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: sum((usage) => usage.reasoningTokens) },
  };
}

export function openAiLogprob({ token, bytes, logprob, top }: TokenLogprob) {
  return {
    token,
    logprob,
    bytes,
    top_logprobs: top.map((entry) => ({ token: entry.token, logprob: entry.logprob, bytes: entry.bytes })),
  };
}
