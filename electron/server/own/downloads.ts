// Downloads and imports: begun, paused, gone on with, called off. How far they are comes with the state.
import type { FastifyInstance } from 'fastify';
import { downloadRequest, importRequest } from '../../contract/models';
import { ROUTES } from '../../contract/routes';
import { peerImportRequest, peerRequest, type SharedModels } from '../../contract/sharing';
import { peerOrigin } from '../../library/sharing/peer';
import type { Fetching } from '../types';
import { parse } from '../validate';

interface ById {
  Params: { id: string };
}

export function downloadRoutes(app: FastifyInstance, { downloads, peers }: Fetching): void {
  app.get(ROUTES.downloads, () => ({ downloads: downloads.list() }));
  app.post(ROUTES.downloads, async (request, reply) => {
    return reply.code(201).send(await downloads.start(parse(downloadRequest, request.body)));
  });
  app.post(ROUTES.imports, async (request, reply) => {
    return reply.code(201).send({ downloads: await downloads.import(parse(importRequest, request.body).path) });
  });
  app.post(ROUTES.peerModels, async (request): Promise<SharedModels> => {
    const { url, key } = parse(peerRequest, request.body);
    return { models: await peers.models(peerOrigin(url), key) };
  });
  app.post(ROUTES.peerImport, async (request, reply) => {
    return reply.code(201).send(await downloads.importFrom(parse(peerImportRequest, request.body)));
  });
  app.post<ById>(ROUTES.downloadPause, ({ params }) => downloads.pause(params.id));
  app.post<ById>(ROUTES.downloadResume, ({ params }) => downloads.resume(params.id));
  app.delete<ById>(ROUTES.download, async ({ params }, reply) => {
    await downloads.cancel(params.id);
    return reply.code(204).send();
  });
}
