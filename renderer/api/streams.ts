// Server-sent events over fetch, so that the key travels in a header: parse, reconnect with the last cursor, give up when told.
import { ApiError, ask } from './client';

export interface ServerEvent {
  id: string | undefined;
  data: string;
}

/** Cuts a growing text into events, whatever the chunks. Comments and unknown fields are dropped. */
export class EventParser {
  #rest = '';

  push(chunk: string): ServerEvent[] {
    this.#rest += chunk.replaceAll('\r', '');
    const events: ServerEvent[] = [];
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      const event = parseEvent(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + 2);
      if (event) events.push(event);
    }
    return events;
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    else if (line.startsWith('id:')) id = line.slice(3).trim();
  }
  return data.length > 0 ? { id, data: data.join('\n') } : undefined;
}

/** The events of one connection. Throws ApiError where it breaks or is refused. */
export async function* events(url: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const response = await ask('GET', url, undefined, signal);
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError({ code: 'internal', message: 'connection lost' }, 0);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

export interface Follow {
  /** Where to begin; `cursor` is the next event wanted. */
  url: (cursor: number) => string;
  /** Events count upwards across connections, so that repeated ones are dropped. */
  ordered: boolean;
  /** True: this was the last one. */
  onEvent: (data: unknown) => boolean;
  onLost?: () => void;
  onRefused: (error: ApiError) => void;
  signal: AbortSignal;
}

/** Follows a stream across broken connections until its last event, a refusal (4xx) or the signal. */
export async function follow({ url, ordered, onEvent, onLost, onRefused, signal }: Follow): Promise<void> {
  let cursor = 0;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const event of events(url(cursor), signal)) {
        failures = 0;
        if (ordered && event.id !== undefined && /^\d+$/.test(event.id)) {
          const index = Number(event.id);
          if (index < cursor) continue;
          cursor = index + 1;
        }
        if (onEvent(safeJson(event.data))) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) return onRefused(error);
    }
    if (signal.aborted) return;
    onLost?.();
    await pause(Math.min(250 * 2 ** failures++, 5000), signal);
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
