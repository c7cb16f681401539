// `hearth ls`: the models that Hearth knows, and what each can do or what is wrong with it.
import { runningServer } from '../app';
import { z } from 'zod';
import { modelEntry, type ModelEntry, type ServerFile } from '../contract/own';
import { ROUTES } from '../contract/routes';
import { HearthError } from '../contract/errors';
import { withEngine } from './engine';
import { bytes, json, table, type Io } from './report';

export interface LsOptions {
  json?: boolean;
  dataDir?: string;
}

export async function ls(options: LsOptions, io: Io): Promise<void> {
  const models = await listModels(options.dataDir);
  if (options.json) {
    json(io, { models });
    return;
  }
  if (models.length === 0) io.out('There are no models yet.\n');
  else io.out(table([['NAME', 'KIND', 'SIZE', 'CONTEXT', 'STATE'], ...models.map(row)]));
}

/** From the running Hearth, else from the folders. */
export async function listModels(dataDir: string | undefined): Promise<ModelEntry[]> {
  const server = await runningServer(dataDir);
  if (server) return fromServer(server);
  return withEngine({ dataDir }, async ({ library }) => {
    await library.refresh();
    await library.identified();
    return library
      .list()
      .map((model) => ({ ...model, state: model.error ? ('failed' as const) : ('available' as const) }));
  });
}

async function fromServer(server: ServerFile): Promise<ModelEntry[]> {
  const response = await fetch(new URL(ROUTES.models, server.url), {
    headers: { authorization: `Bearer ${server.token}` },
  });
  if (!response.ok) throw new HearthError('internal', `The running Hearth answered with status ${response.status}.`);
  return z.object({ models: z.array(modelEntry) }).parse(await response.json()).models;
}

function row(model: ModelEntry): string[] {
  const { info, error } = model;
  const kind = info ? `${info.architecture} ${info.quantization}` : '-';
  const state = error
    ? error.message
    : model.builtin && model.state === 'available'
      ? 'ships with Hearth'
      : model.state;
  return [model.name, kind, bytes(model.fileBytes), info ? String(info.context) : '-', state];
}
