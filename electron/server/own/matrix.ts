// The compatibility matrix over HTTP: read as JSON or Markdown, and filled by a check.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { matrixCheckRequest } from '../../contract/models';
import { ROUTES } from '../../contract/routes';
import { matrixMarkdown } from '../../supervisor/matrix/markdown';
import { refOf, usableModel, type ServerContext } from '../context';
import { invalid, parse } from '../validate';

const query = z.object({ format: z.enum(['json', 'md']).default('json') });

export function matrixRoutes(app: FastifyInstance, context: ServerContext): void {
  const { matrix } = context;
  app.get(ROUTES.matrix, async (request, reply) => {
    const { format } = parse(query, request.query);
    const rows = await matrix.rows();
    if (format === 'json') return { rows, checks: matrix.checks() };
    return reply.type('text/markdown; charset=utf-8').send(matrixMarkdown(rows));
  });
  app.post(ROUTES.matrixCheck, async (request, reply) => {
    const { model, accept } = parse(matrixCheckRequest, request.body);
    const found = await usableModel(context, model);
    if (found.remote !== undefined)
      throw invalid('model', `${found.name} is not on this machine: it is not ours to measure.`);
    return reply.code(202).send(matrix.check(refOf(found), accept).now);
  });
}
