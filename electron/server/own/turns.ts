// Turns over HTTP: begin one, follow it from any point on, stop it.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { turnRequest } from '../../contract/own';
import { ROUTES } from '../../contract/routes';
import { clientSignal, EventStream } from '../event-stream';
import type { Turns } from '../turns/turns';
import { parse } from '../validate';
import type { IdParams } from './chats';

const query = z.object({ cursor: z.coerce.number().int().min(0).optional() });

/** Where to go on: the cursor, or after the last event that a reconnecting client has seen. */
function cursorOf(asked: unknown, lastEventId: unknown): number {
  const { cursor } = parse(query, asked);
  if (cursor !== undefined) return cursor;
  return typeof lastEventId === 'string' && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) + 1 : 0;
}

export function turnRoutes(app: FastifyInstance, turns: Turns): void {
  app.post<IdParams>(ROUTES.chatTurns, async ({ params, body }, reply) =>
    reply.code(201).send(await turns.start(params.id, parse(turnRequest, body))),
  );
  app.get<IdParams>(ROUTES.turnEvents, async (request, reply) => {
    const cursor = cursorOf(request.query, request.headers['last-event-id']);
    const log = turns.log(request.params.id);
    const stream = new EventStream(reply);
    for await (const { id, event } of log.read(cursor, clientSignal(reply))) await stream.send(event, id);
    stream.end();
  });
  app.post<IdParams>(ROUTES.turnStop, async ({ params }, reply) => {
    await turns.stop(params.id);
    return reply.code(204).send();
  });
}
