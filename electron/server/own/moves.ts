// Where models, cache and chats lie, and their moves.
import type { FastifyInstance } from 'fastify';
import { HearthError } from '../../contract/errors';
import { moveRequest } from '../../contract/models';
import { ROUTES } from '../../contract/routes';
import type { ServerContext } from '../context';
import { parse } from '../validate';

export function moveRoutes(app: FastifyInstance, { locations }: ServerContext): void {
  app.get(ROUTES.moves, async () => ({
    locations: (await locations?.list()) ?? [],
    moves: locations?.moves() ?? [],
  }));
  app.post(ROUTES.moves, async (request, reply) => {
    const asked = parse(moveRequest, request.body);
    if (!locations) throw new HearthError('not_found', 'Nothing can be moved here.');
    return reply.code(202).send(await locations.move(asked));
  });
}
