// What can be fetched: the catalogue and the hub.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ROUTES } from '../../contract/routes';
import type { Fetching } from '../types';
import { parse } from '../validate';

const MAX_QUERY = 200;
const search = z.object({ q: z.string().max(MAX_QUERY).default(''), cursor: z.string().max(1000).optional() });
const one = z.object({ repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/) });

export function discoverRoutes(app: FastifyInstance, { discover }: Fetching): void {
  app.get(ROUTES.discover, (request) => {
    const { q, cursor } = parse(search, request.query);
    return discover.search(q.trim(), cursor);
  });
  app.get(ROUTES.discoverRepo, (request) => discover.repository(parse(one, request.query).repo));
}
