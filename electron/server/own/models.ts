// The models on disk and the one in the foreground.
import type { FastifyInstance } from 'fastify';
import { HearthError } from '../../contract/errors';
import { loadRequest, type ActiveModel, type ModelEntry } from '../../contract/own';
import { ROUTES } from '../../contract/routes';
import { refOf, usableModel, type ServerContext } from '../context';
import { parse } from '../validate';

export function modelEntries({ library, supervisor }: Pick<ServerContext, 'library' | 'supervisor'>): ModelEntry[] {
  const active = supervisor.active();
  return library.list().map(({ modifiedAt: _, error, ...model }) => {
    const here = active?.name === model.name ? active : undefined;
    const problem = error ?? here?.error;
    return { ...model, state: error ? 'failed' : (here?.state ?? 'available'), ...(problem && { error: problem }) };
  });
}

export function modelRoutes(app: FastifyInstance, context: ServerContext): void {
  const { library, supervisor } = context;
  app.get(ROUTES.models, async () => {
    await library.ready();
    return { models: modelEntries(context) };
  });
  app.post(ROUTES.modelRefresh, async () => {
    await library.refresh();
    return { models: modelEntries(context) };
  });
  app.post(ROUTES.modelLoad, async (request, reply) => {
    const model = await usableModel(context, parse(loadRequest, request.body).model);
    const loading = supervisor.load(refOf(model));
    // The state tells how it goes; here it is only begun.
    loading
      .then((loaded) => {
        context.matrix.loaded(model.name, loaded);
        return context.patchSettings({ lastModel: model.name });
      })
      .catch((error: unknown) => context.log?.warn(`${model.name} was not loaded: ${HearthError.from(error).message}`));
    // The one before may still be in the foreground: it is not what was asked for.
    const active = supervisor.active();
    const now: ActiveModel = active?.name === model.name ? active : { name: model.name, state: 'loading' };
    return reply.code(202).send(now);
  });
  app.post(ROUTES.modelUnload, async (_request, reply) => {
    await supervisor.unload();
    return reply.code(204).send();
  });
}
