// One response of server-sent events: headers at once, lines with backpressure, a comment while there is nothing to say.
// It knows nothing of what it carries.
import type { FastifyReply } from 'fastify';

/** Clients and proxies give up after a minute or more of silence. */
const HEARTBEAT_MS = 10_000;

export class EventStream {
  private readonly heartbeat: NodeJS.Timeout;
  private quietSince = Date.now();

  /** Takes the response over; headers that were set on `reply` go with it. */
  constructor(private readonly reply: FastifyReply) {
    reply.hijack();
    const headers = Object.fromEntries(Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined));
    reply.raw.writeHead(200, {
      ...(headers as Record<string, string | number | string[]>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    reply.raw.flushHeaders();
    reply.raw.socket?.setNoDelay(true);
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS / 2);
    this.heartbeat.unref();
    reply.raw.once('close', () => clearInterval(this.heartbeat));
  }

  get open(): boolean {
    return !this.reply.raw.destroyed && !this.reply.raw.writableEnded;
  }

  /** Resolves when there is room for more, or when nobody listens any longer. */
  send(data: unknown, id?: number): Promise<void> {
    const head = id === undefined ? '' : `id: ${id}\n`;
    return this.write(`${head}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }

  end(): void {
    clearInterval(this.heartbeat);
    if (this.open) this.reply.raw.end();
  }

  private beat(): void {
    if (Date.now() - this.quietSince >= HEARTBEAT_MS / 2 && !this.reply.raw.writableNeedDrain)
      void this.write(': working\n\n');
  }

  private write(text: string): Promise<void> {
    const { raw } = this.reply;
    if (!this.open) return Promise.resolve();
    this.quietSince = Date.now();
    if (raw.write(text)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        raw.off('drain', done);
        raw.off('close', done);
        resolve();
      };
      raw.once('drain', done);
      raw.once('close', done);
    });
  }
}

/** A signal that fires when the client leaves before its answer is complete. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  if (raw.destroyed && !raw.writableFinished) controller.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
