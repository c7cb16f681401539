// Folders with models: added, listed, forgotten. Forgetting one deletes nothing in it.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { HearthError } from '../../contract/errors';
import { addFolder } from '../../contract/models';
import { ROUTES } from '../../contract/routes';
import type { ServerContext } from '../context';
import { parse } from '../validate';

const MAX_FOLDERS = 100;

export function folderRoutes(app: FastifyInstance, context: ServerContext): void {
  const { library } = context;
  // Two requests at once would each write a list without the other's folder.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };

  const add = async (path: string) => {
    const { modelFolders } = context.settings();
    if (modelFolders.length >= MAX_FOLDERS)
      throw new HearthError('invalid_request', `At most ${MAX_FOLDERS} folders are possible.`);
    const folder = { id: randomUUID(), ...(await library.folderAt(path)) };
    await context.patchSettings({ modelFolders: [...modelFolders, folder] });
    return (await library.folders()).find(({ id }) => id === folder.id);
  };
  const forget = async (id: string) => {
    const { modelFolders } = context.settings();
    if (!modelFolders.some((folder) => folder.id === id))
      throw new HearthError('not_found', 'There is no such folder on the list.');
    await context.patchSettings({ modelFolders: modelFolders.filter((folder) => folder.id !== id) });
  };

  app.get(ROUTES.folders, async () => ({ folders: await library.folders() }));
  app.post(ROUTES.folders, async (request, reply) => {
    const { path } = parse(addFolder, request.body);
    return reply.code(201).send(await inTurn(() => add(path)));
  });
  app.delete<{ Params: { id: string } }>(ROUTES.folder, async (request, reply) => {
    await inTurn(() => forget(request.params.id));
    return reply.code(204).send();
  });
}
