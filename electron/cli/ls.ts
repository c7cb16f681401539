// `hearth ls`: the models that Hearth knows, and what each can do or what is wrong with it.
import { runningServer } from '../app';
import { z } from 'zod';
import type { Verification } from '../contract/models';
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
  else io.out(table([['NAME', 'KIND', 'SIZE', 'CONTEXT', 'FOLDER', 'VERIFIED', 'STATE'], ...models.map(row)]));
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

const VERIFIED: Record<Verification['state'], string> = {
  unknown: '-',
  waiting: '-',
  hashing: 'checking',
  hashed: 'read whole',
  matches: 'yes',
  differs: 'NO',
};

function verified({ verification }: ModelEntry): string {
  if (!verification) return '-';
  const { state, fraction = 0 } = verification;
  return state === 'hashing' ? `${Math.floor(fraction * 100)} %` : VERIFIED[state];
}

function row(model: ModelEntry): string[] {
  const { info, error, folder, remote } = model;
  const kind = info ? `${info.architecture} ${info.quantization}` : '-';
  const state = error
    ? error.message
    : model.builtin && model.state === 'available'
      ? 'ships with Hearth'
      : model.state;
  const where = remote ?? folder ?? '-';
  const size = remote === undefined ? bytes(model.fileBytes) : '-';
  return [model.name, kind, size, info ? String(info.context) : '-', where, verified(model), state];
}
