// The addresses under /v1.
import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../context';
import { chatRoute } from './chat';
import { completionRoute } from './completions';
import { modelRoutes } from './models';

export function openAiRoutes(app: FastifyInstance, context: ServerContext): void {
  modelRoutes(app, context);
  chatRoute(app, context);
  completionRoute(app, context);
}
