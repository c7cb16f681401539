// Calls in, one reply each, events out: the runtime protocol as the runtime sees it. Everything that comes in is checked first.
// It knows no model.
import type { z } from 'zod';
import { HearthError } from '../contract/errors';
import {
  METHODS,
  callMessage,
  type CallMessage,
  type GenerationEvent,
  type LogLevel,
  type Method,
  type Result,
  type RuntimeMessage,
} from '../contract/runtime';
import type { HostPort } from './port';

/** Parameters with their defaults filled in. */
export type FullParams<M extends Method> = z.output<(typeof METHODS)[M]['params']>;
export type Handlers = { [M in Method]?: (params: FullParams<M>) => Promise<Result<M>> | Result<M> };

export class HostLink {
  private handlers: Handlers = {};

  constructor(private readonly port: HostPort) {
    port.onMessage((message) => void this.onMessage(message));
  }

  serve(handlers: Handlers): void {
    this.handlers = handlers;
  }

  send(message: RuntimeMessage): void {
    this.port.post(message);
  }

  events(events: GenerationEvent[]): void {
    if (events.length > 0) this.send({ type: 'events', events });
  }

  log(level: LogLevel, text: string): void {
    this.send({ type: 'log', level, text });
  }

  private async onMessage(raw: unknown): Promise<void> {
    const message = callMessage.safeParse(raw);
    if (!message.success) {
      this.log('error', `unreadable message from main: ${message.error.message}`);
      return;
    }
    const { call } = message.data;
    try {
      this.send({ type: 'reply', call, result: await this.run(message.data) });
    } catch (error) {
      this.send({ type: 'reply', call, error: HearthError.from(error).toShape() });
    }
  }

  private run({ method, params }: CallMessage): unknown {
    if (!Object.hasOwn(METHODS, method)) throw new HearthError('internal', `The runtime has no method '${method}'.`);
    const handler = this.handlers[method as Method] as ((params: unknown) => unknown) | undefined;
    if (!handler) throw new HearthError('no_model', `'${method}' needs a loaded model.`);
    const parsed = METHODS[method as Method].params.safeParse(params);
    if (!parsed.success) throw unreadable(parsed.error);
    return handler(parsed.data);
  }
}

function unreadable(error: z.ZodError): HearthError {
  const issue = error.issues[0];
  const where = issue?.path.join('.') ?? '';
  return new HearthError('invalid_request', `${where}: ${issue?.message ?? 'invalid'}`, { param: where, cause: error });
}
