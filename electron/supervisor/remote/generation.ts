// One generation on an engine elsewhere, as the events that a runtime of this machine would give. There are no token ids: an answer that breaks
// off cannot be resumed, and ends with its error. A chat that is too long there loses its oldest turns, where the request allows it.
import { HearthError } from '../../contract/errors';
import type { FinishReason } from '../../contract/chat';
import type { GenerateRequest, GenerationEvent } from '../../contract/runtime';
import type { RemoteAnswer, RemoteClient } from './client';
import { RemoteReader, type Delivered } from './reader';
import { remoteRequest, type RemoteRequest } from './request';

/** Each time half of what can be dropped goes. */
const MOST_TRIES = 6;

/** Before its `start` it throws; afterwards, too: whoever reads it knows whether there was one. */
export async function* remoteGeneration(
  client: RemoteClient,
  model: string,
  work: GenerateRequest,
  signal: AbortSignal,
): AsyncGenerator<GenerationEvent, void> {
  const { id } = work;
  const clock = new Clock();
  const { answer, request } = await begin(client, model, work, signal);
  const temperature = work.sampling.temperature ?? 1;
  yield { kind: 'start', id, promptTokens: 0, temperature, droppedTurns: request.droppedTurns };
  const reader = new RemoteReader(client.engine.key);
  let cut: FinishReason | undefined;
  for await (const delivered of deliveries(answer, reader)) {
    if (delivered.parts.length > 0) clock.word();
    if (delivered.parts.length + delivered.logprobs.length > 0) yield partsOf(id, delivered);
    if (work.answerTokens !== undefined && reader.textPieces >= work.answerTokens) {
      cut = 'length';
      break;
    }
  }
  const end = cut ? { reason: cut, usage: reader.usage(), parts: [] } : reader.end();
  if (end.parts.length > 0) yield partsOf(id, { parts: end.parts, logprobs: [] });
  const { reason, usage } = end;
  yield { kind: 'end', id, reason, usage, timings: clock.timings(usage) };
}

async function begin(
  client: RemoteClient,
  model: string,
  work: GenerateRequest,
  signal: AbortSignal,
): Promise<{ answer: RemoteAnswer; request: RemoteRequest }> {
  for (let tries = 1, dropped = 0; ; tries++) {
    const request = remoteRequest(model, work, dropped);
    try {
      return { answer: await client.answer(request, signal), request };
    } catch (error) {
      const { droppedTurns, droppableTurns } = request;
      const tooLong = error instanceof HearthError && error.code === 'context_length_exceeded';
      if (!tooLong || !work.fit || droppableTurns === 0 || tries === MOST_TRIES) throw error;
      dropped = droppedTurns + (tries === MOST_TRIES - 1 ? droppableTurns : Math.ceil(droppableTurns / 2));
    }
  }
}

async function* deliveries(answer: RemoteAnswer, reader: RemoteReader): AsyncGenerator<Delivered, void> {
  if (answer.kind === 'whole') yield reader.whole(answer.data);
  else for await (const data of answer.data) yield reader.push(data);
}

function partsOf(id: string, { parts, logprobs }: Delivered): GenerationEvent {
  return { kind: 'parts', id, index: 0, tokenIds: [], parts, ...(logprobs.length > 0 && { logprobs }) };
}

/** What can be measured from here: the network is part of it. */
class Clock {
  private readonly begun = performance.now();
  private first: number | undefined;
  private last = 0;

  word(): void {
    this.last = performance.now();
    this.first ??= this.last;
  }

  timings({
    promptTokens,
    cachedTokens,
    completionTokens,
  }: {
    promptTokens: number;
    cachedTokens: number;
    completionTokens: number;
  }) {
    const ttftMs = (this.first ?? performance.now()) - this.begun;
    const decodeMs = this.first === undefined ? 0 : this.last - this.first;
    const rate = (count: number, ms: number) => (ms > 0 && count > 0 ? (count * 1000) / ms : 0);
    return {
      queueMs: 0,
      prefillMs: ttftMs,
      ttftMs,
      decodeMs,
      prefillTps: rate(promptTokens - cachedTokens, ttftMs),
      decodeTps: rate(completionTokens - 1, decodeMs),
    };
  }
}
