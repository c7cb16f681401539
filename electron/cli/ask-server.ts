// A question to the Hearth that is running already, through its OpenAI-compatible API.
import { z } from 'zod';
import type { Effort } from '../contract/chat';
import { ERRORS, HearthError, errorCodes, type ErrorCode } from '../contract/errors';
import type { ServerFile } from '../contract/own';

export interface Question {
  model: string;
  prompt: string;
  system?: string;
  temperature?: number;
  maxTokens?: number;
  effort: Effort;
  seed?: number;
}

export interface AnswerPart {
  channel: 'reasoning' | 'text';
  delta: string;
}

const delta = z.looseObject({
  content: z.string().nullish(),
  reasoning_content: z.string().nullish(),
});
const chunk = z.looseObject({
  choices: z.array(z.looseObject({ delta: delta.optional() })).optional(),
  error: z.looseObject({ message: z.string(), code: z.string().nullish() }).optional(),
});

/** Throws HearthError with what the server said. An aborted signal ends the answer quietly. */
export async function* askServer(
  server: ServerFile,
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<AnswerPart> {
  try {
    const response = await fetch(new URL('/v1/chat/completions', server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}` },
      body: JSON.stringify(body(question)),
      signal,
    });
    if (!response.ok || !response.body) throw failure(await response.json());
    for await (const data of serverSentEvents(response.body)) yield* partsOf(data);
  } catch (error) {
    if (signal.aborted) return;
    throw HearthError.from(error);
  }
}

function body({ model, prompt, system, temperature, maxTokens, effort, seed }: Question) {
  return {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: prompt },
    ],
    stream: true,
    reasoning_effort: effort,
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
  };
}

function* partsOf(data: string): Generator<AnswerPart> {
  if (data === '[DONE]') return;
  const parsed = chunk.parse(JSON.parse(data));
  if (parsed.error) throw failure(parsed);
  for (const choice of parsed.choices ?? []) {
    const { reasoning_content: reasoning, content } = choice.delta ?? {};
    if (reasoning) yield { channel: 'reasoning', delta: reasoning };
    if (content) yield { channel: 'text', delta: content };
  }
}

/** The data of each event of a stream, however it is cut. */
export async function* serverSentEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const bytes of stream) {
    held += decoder.decode(bytes, { stream: true });
    const events = held.split(/\r?\n\r?\n/);
    held = events.pop() ?? '';
    for (const event of events) {
      const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
      if (lines.length > 0) yield lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n');
    }
  }
}

function failure(answer: unknown): HearthError {
  const { error } = chunk.catch({}).parse(answer);
  const code = errorCodes.find((known): known is ErrorCode => known === error?.code) ?? 'internal';
  const message = error?.message ?? 'The running Hearth gave no readable answer.';
  // The API says the remedy within the message; here it is said beside it.
  return new HearthError(code, message.replace(` ${ERRORS[code].remedy}`, ''));
}
