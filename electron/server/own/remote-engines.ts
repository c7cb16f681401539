// Engines elsewhere over HTTP: add, list, ask now, take away. A key comes in and never goes out.
import type { FastifyInstance } from 'fastify';
import { remoteEngineRequest } from '../../contract/models';
import { ROUTES } from '../../contract/routes';
import type { ServerContext } from '../context';
import { parse } from '../validate';
import type { IdParams } from './chats';

export function remoteEngineRoutes(app: FastifyInstance, { engines }: ServerContext): void {
  app.get(ROUTES.remoteEngines, () => ({ engines: engines.list() }));
  app.post(ROUTES.remoteEngines, async (request, reply) =>
    reply.code(201).send(await engines.add(parse(remoteEngineRequest, request.body))),
  );
  app.delete<IdParams>(ROUTES.remoteEngine, async ({ params }, reply) => {
    await engines.remove(params.id);
    return reply.code(204).send();
  });
  app.post<IdParams>(ROUTES.remoteEngineCheck, ({ params }) => engines.check(params.id));
}
