// What can be done to a model on disk: deleting it, giving it another name.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { HearthError } from '../../contract/errors';
import { ROUTES } from '../../contract/routes';
import type { ServerContext } from '../context';
import { parse } from '../validate';
import { modelEntries } from './models';

const removal = z.object({ model: z.string() });
const aliasing = z.object({ model: z.string(), alias: z.string() });

/** Whether any runtime has it, or is about to. */
function isInUse({ supervisor }: ServerContext, name: string, path: string): boolean {
  const active = supervisor.active();
  if (active?.name === name && active.state !== 'failed') return true;
  return supervisor.models().some(({ info }) => info?.path === path);
}

export function modelFileRoutes(app: FastifyInstance, context: ServerContext): void {
  const { library } = context;
  const without = (name: string) =>
    Object.fromEntries(Object.entries(context.settings().aliases).filter(([, model]) => model !== name));

  app.post(ROUTES.modelRemove, async (request, reply) => {
    await library.ready();
    const { name, path, folder } = library.find(parse(removal, request.body).model);
    // What is not Hearth's is refused for that, whatever it is doing.
    if (folder === 'own' && isInUse(context, name, path))
      throw new HearthError('model_in_use', `${name} is loaded.`, { param: 'model' });
    await library.remove(name);
    await context.patchSettings({ aliases: without(name) });
    return reply.code(204).send();
  });

  app.post(ROUTES.modelAlias, async (request) => {
    await library.ready();
    const { model, alias } = parse(aliasing, request.body);
    const { name } = library.find(model);
    const others = without(name);
    const aliases = alias === '' ? others : { ...context.settings().aliases, [library.checkedAlias(alias)]: name };
    await context.patchSettings({ aliases });
    return modelEntries(context).find((entry) => entry.name === name);
  });
}
