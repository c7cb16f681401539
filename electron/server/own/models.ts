// The models on disk, and those in memory: loaded, planned, unloaded.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { HearthError } from '../../contract/errors';
import type { LoadPlan } from '../../contract/models';
import { deviceName, loadRequest, unloadRequest, type ActiveModel, type ModelEntry } from '../../contract/own';
import { ROUTES } from '../../contract/routes';
import type { LibraryModel } from '../../library/types';
import { refOf, usableModel, type ServerContext } from '../context';
import { parse } from '../validate';
import { modelFits } from './model-fits';

const planQuery = z.object({ model: z.string(), device: deviceName.optional() });

export function modelEntries({ library, supervisor }: Pick<ServerContext, 'library' | 'supervisor'>): ModelEntry[] {
  const active = supervisor.active();
  const failed = supervisor.failed();
  const inMemory = new Map(supervisor.models().map((model) => [model.name, model]));
  return library.list().map(({ modifiedAt: _, error, remote: _id, engine, ...model }) => {
    const here = active?.name === model.name ? active : inMemory.get(model.name);
    const failure = here === undefined && failed?.model === model.name ? failed.error : undefined;
    const problem = error ?? here?.error ?? failure;
    return {
      ...model,
      state: error || failure ? 'failed' : (here?.state ?? 'available'),
      ...(engine !== undefined && { remote: engine }),
      ...(problem && { error: problem }),
    };
  });
}

async function withFits(context: ServerContext): Promise<ModelEntry[]> {
  const fits = await modelFits(context);
  return modelEntries(context).map((entry) => {
    const fit = fits.get(entry.name);
    return fit ? { ...entry, fit } : entry;
  });
}

export function modelRoutes(app: FastifyInstance, context: ServerContext): void {
  const { library } = context;
  app.get(ROUTES.models, async () => {
    await library.ready();
    return { models: await withFits(context) };
  });
  app.post(ROUTES.modelRefresh, async () => {
    await library.refresh();
    return { models: await withFits(context) };
  });
  memoryRoutes(app, context);
}

const planElsewhere = ({ name, engine }: LibraryModel): LoadPlan => ({
  model: name,
  choices: [],
  recommended: 'balanced',
  unloads: [],
  devices: [],
  remote: engine ?? '',
});

function memoryRoutes(app: FastifyInstance, context: ServerContext): void {
  const { supervisor } = context;
  app.get(ROUTES.modelPlan, async (request) => {
    const { model: name, device } = parse(planQuery, request.query);
    const model = await usableModel(context, name);
    if (model.remote !== undefined) return planElsewhere(model);
    return supervisor.plan(refOf(model), device);
  });
  app.post(ROUTES.modelLoad, async (request, reply) => {
    const { model: name, ...wish } = parse(loadRequest, request.body);
    const model = await usableModel(context, name);
    const loading = supervisor.load(refOf(model), wish);
    // The state tells how it goes; here it is only begun.
    loading
      .then((loaded) => {
        if (model.remote === undefined) context.matrix.loaded(model.name, loaded);
        return context.patchSettings({ lastModel: model.name });
      })
      .catch((error: unknown) => context.log?.warn(`${model.name} was not loaded: ${HearthError.from(error).message}`));
    // The one before may still be in the foreground: it is not what was asked for.
    const active = supervisor.active();
    const now: ActiveModel = active?.name === model.name ? active : { name: model.name, state: 'loading' };
    return reply.code(202).send(now);
  });
  app.post(ROUTES.modelLoadCancel, (_request, reply) => {
    supervisor.cancelLoad();
    return reply.code(204).send();
  });
  app.post(ROUTES.modelUnload, async (request, reply) => {
    const { model } = parse(unloadRequest, request.body ?? {});
    await supervisor.unload(model === undefined ? undefined : refOf(await usableModel(context, model)));
    return reply.code(204).send();
  });
}
