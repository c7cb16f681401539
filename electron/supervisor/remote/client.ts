// Talks HTTP to one OpenAI-compatible engine: its models, and one answer as pieces of JSON. It opens no socket itself: the door it is given
// obeys offline mode and keeps the ledger. Nothing that comes back is trusted, neither in length nor in kind; the key is never in a message.
import { z } from 'zod';
import { HearthError } from '../../contract/errors';
import { abilities } from '../../contract/runtime';
import { cleaned, errorOfStatus } from './errors';
import { LIMITS, Patience, type Limits } from './patience';
import type { RemoteRequest } from './request';
import { SSE_LIMITS, sseData } from './sse';

export interface DoorRequest {
  url: string;
  purpose: 'remote_engine';
  detail: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  bearer?: string;
  signal?: AbortSignal;
  connectMs?: number;
  headMs?: number;
  /** An answer that points elsewhere is given as it is. */
  redirects: false;
}

export interface DoorAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Uint8Array> & { destroy(): unknown };
}

/** The way off this machine (library/network.ts). Throws HearthError{offline | unreachable}, and the signal's reason. */
export interface Door {
  open(request: DoorRequest): Promise<DoorAnswer>;
}

export interface EngineAddress {
  name: string;
  /** Of its /v1, without a slash at the end. */
  url: string;
  key?: string;
}

export interface ListedModel {
  id: string;
  context?: number;
  abilities?: z.output<typeof abilities>;
}

const MODELS_BYTES = 8 * 1024 ** 2;
const ERROR_BYTES = 64 * 1024;
const WHOLE_BYTES = 16 * 1024 ** 2;
const MOST_MODELS = 500;
const MOST_ID = 200;

const maybe = <S extends z.ZodType>(schema: S) => schema.nullish().catch(undefined);
const listed = z.looseObject({
  id: z.string().min(1).max(MOST_ID),
  max_model_len: maybe(z.int().min(1)),
  context_length: maybe(z.int().min(1)),
  /** Another Hearth says more, also which models are themselves elsewhere. */
  hearth: maybe(z.looseObject({ abilities: maybe(abilities), remote: maybe(z.string()) })),
});
const list = z.looseObject({ data: z.array(z.unknown()) });

/** One answer: as events, or in one piece where the engine does not stream. */
export type RemoteAnswer = { kind: 'stream'; data: AsyncIterable<string> } | { kind: 'whole'; data: string };

export class RemoteClient {
  constructor(
    readonly engine: EngineAddress,
    private readonly door: Door,
    private readonly limits: Limits = LIMITS,
  ) {}

  /** Throws HearthError. What is itself elsewhere there is left out: two engines that know each other would list themselves for ever. */
  async models(signal?: AbortSignal): Promise<ListedModel[]> {
    const late = AbortSignal.timeout(this.limits.listMs);
    const answer = await this.open('models', undefined, signal ? AbortSignal.any([signal, late]) : late).catch(
      (error: unknown) => this.fail(error, late.aborted),
    );
    const text = await this.read(answer, MODELS_BYTES).catch((error: unknown) => this.fail(error, late.aborted));
    const json = jsonOf(text);
    if (answer.status !== 200) throw this.refusal(answer.status, json);
    const parsed = list.safeParse(json);
    if (!parsed.success) throw this.failed('gives no list of models: it may be no OpenAI-compatible engine');
    return parsed.data.data.slice(0, MOST_MODELS).flatMap((entry) => {
      const model = listed.safeParse(entry);
      if (!model.success || model.data.hearth?.remote) return [];
      const { id, max_model_len, context_length, hearth } = model.data;
      const context = max_model_len ?? context_length ?? undefined;
      const can = hearth?.abilities ?? undefined;
      return [{ id, ...(context !== undefined && { context }), ...(can && { abilities: can }) }];
    });
  }

  /** Asks for an answer and gives it once the engine has begun to give one. Leaving the stream closes the connection. */
  async answer(request: RemoteRequest, signal: AbortSignal): Promise<RemoteAnswer> {
    const patience = new Patience(this.limits);
    try {
      const both = AbortSignal.any([signal, patience.signal]);
      const answer = await this.open(request.path, request.body, both);
      if (answer.status !== 200) {
        throw this.refusal(answer.status, jsonOf(await this.read(answer, ERROR_BYTES)));
      }
      const type = String(answer.headers['content-type'] ?? '').toLowerCase();
      if (type.startsWith('text/event-stream')) {
        return { kind: 'stream', data: this.events(answer, patience) };
      }
      if (!type.startsWith('application/json')) {
        answer.body.destroy();
        throw this.failed(
          `sent ${cleaned(type).slice(0, 60) || 'something without a type'} where an answer was expected`,
        );
      }
      const data = await this.read(answer, WHOLE_BYTES);
      patience.end();
      return { kind: 'whole', data };
    } catch (error) {
      patience.end();
      return this.fail(error, patience.isOver);
    }
  }

  private async *events(answer: DoorAnswer, patience: Patience): AsyncGenerator<string, void> {
    const bytes = async function* () {
      for await (const chunk of answer.body) {
        patience.onBytes();
        yield chunk;
      }
    };
    try {
      for await (const data of sseData(bytes(), SSE_LIMITS)) {
        patience.onWord();
        yield data;
      }
    } catch (error) {
      this.fail(error, patience.isOver);
    } finally {
      patience.end();
      answer.body.destroy();
    }
  }

  private open(path: string, body: object | undefined, signal: AbortSignal): Promise<DoorAnswer> {
    const { name, url, key } = this.engine;
    return this.door.open({
      url: `${url}/${path}`,
      purpose: 'remote_engine',
      detail: name,
      method: body ? 'POST' : 'GET',
      headers: {
        accept: body ? 'text/event-stream, application/json' : 'application/json',
        // Engines close idle connections at once; a request must not meet one that is being closed.
        connection: 'close',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(key !== undefined && { bearer: key }),
      signal,
      connectMs: this.limits.connectMs,
      headMs: this.limits.firstMs,
      redirects: false,
    });
  }

  private async read(answer: DoorAnswer, most: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of answer.body) {
      length += part.length;
      if (length > most) {
        answer.body.destroy();
        throw this.failed('sent more than can be read');
      }
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  private refusal(status: number, answer: unknown): HearthError {
    return errorOfStatus(status, answer, this.engine.name, this.engine.key);
  }

  private failed(words: string): HearthError {
    return new HearthError('remote_failed', `${this.engine.name} ${words}.`);
  }

  /** Whatever was thrown, as what it means for the user. */
  private fail(error: unknown, outOfPatience: boolean): never {
    if (outOfPatience) throw new HearthError('unreachable', `${this.engine.name} has said nothing for too long.`);
    if (error instanceof HearthError) throw error;
    // Of the socket: its message may hold the address, and nothing else.
    const why = error instanceof Error ? cleaned(error.message, this.engine.key) : '';
    throw new HearthError('remote_failed', `The connection to ${this.engine.name} broke off (${why}).`, {
      cause: error,
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
