// GET /v1/models and /v1/models/NAME: what can be asked here, with what clients need to know to plan their prompts.
import type { FastifyInstance } from 'fastify';
import type { LibraryModel } from '../../library/types';
import { refOf, usableModel, type ServerContext } from '../context';

/** A list may wait a moment for models that have not been looked at since they appeared. */
const IDENTIFY_WAIT_MS = 1500;

function modelObject({ supervisor }: ServerContext, model: LibraryModel) {
  const here = supervisor.loaded(refOf(model));
  const context = here?.context ?? model.info?.context;
  const { info, abilities, aliases, engine } = model;
  return {
    id: model.name,
    object: 'model',
    created: Math.floor((model.modifiedAt ?? 0) / 1000),
    owned_by: engine !== undefined ? 'remote' : model.builtin ? 'hearth' : 'local',
    ...(context !== undefined && { context_length: context, max_model_len: context }),
    hearth: {
      loaded: here !== undefined,
      ...(aliases && { aliases }),
      ...(engine !== undefined && { remote: engine }),
      ...(abilities && { abilities }),
      ...(info && {
        model_id: info.modelId,
        architecture: info.architecture,
        quantization: info.quantization,
        parameters: info.parameters,
        file_bytes: info.fileBytes,
        license: info.license,
      }),
    },
  };
}

export function modelRoutes(app: FastifyInstance, context: ServerContext): void {
  const config = { access: 'key', shared: true } as const;
  app.get('/models', { config }, async () => {
    await context.library.ready();
    const waited = new Promise((resolve) => setTimeout(resolve, IDENTIFY_WAIT_MS).unref());
    await Promise.race([context.library.identified(), waited]);
    const models = context.library.list().filter((model) => model.error === undefined);
    return { object: 'list', data: models.map((model) => modelObject(context, model)) };
  });
  // A name may hold what a path segment may not; every such address asks for a model.
  app.get<{ Params: { '*': string } }>('/models/*', { config }, async (request) =>
    modelObject(context, await usableModel(context, request.params['*'])),
  );
}
