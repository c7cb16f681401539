// For programs that watch over Hearth: is it there, and its numbers.
import type { FastifyInstance } from 'fastify';
import type { ServerContext } from './context';

export function healthRoutes(app: FastifyInstance, context: ServerContext): void {
  app.get('/health', { config: { access: 'public' } }, () => {
    const active = context.supervisor.active();
    return { status: active?.state === 'loading' ? 'loading' : 'ok', version: context.version };
  });
  app.get('/metrics', { config: { access: 'key' } }, async (_request, reply) => {
    void reply.type('text/plain; version=0.0.4; charset=utf-8');
    return (await context.telemetry?.text()) ?? '';
  });
}
