// `hearth rm MODEL`: deletes a model of Hearth's own folder, after asking. What lies in other programs' folders stays.
import { createInterface } from 'node:readline/promises';
import { runningServer } from '../app';
import { HearthError, errorShape } from '../contract/errors';
import type { ServerFile } from '../contract/own';
import { ROUTES } from '../contract/routes';
import { withEngine } from './engine';
import { listModels } from './ls';
import { bytes, json, type Io } from './report';

export interface RmOptions {
  yes?: boolean;
  json?: boolean;
  dataDir?: string;
}

/** Asks on the terminal. Throws `invalid_request` where there is none. */
async function confirmed(question: string, io: Io): Promise<boolean> {
  if (!io.terminal || !process.stdin.isTTY)
    throw new HearthError('invalid_request', 'Nobody can be asked here. Say --yes to delete without a question.');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

/** Gives the exit code. */
export async function rm(model: string, options: RmOptions, io: Io): Promise<number> {
  const entry = (await listModels(options.dataDir)).find(
    ({ name, aliases }) => name === model || aliases?.includes(model),
  );
  const what = entry ? `${entry.name} (${bytes(entry.fileBytes)})` : model;
  if (!options.yes && entry && !(await confirmed(`Delete ${what} for good?`, io))) {
    io.err('Nothing was deleted.\n');
    return 1;
  }
  const server = await runningServer(options.dataDir);
  const name = entry?.name ?? model;
  if (server) await removeAt(server, name);
  else
    await withEngine({ dataDir: options.dataDir }, async ({ library }) => {
      await library.refresh();
      await library.remove(name);
    });
  if (options.json) json(io, { removed: name });
  else io.out(`${what} was deleted.\n`);
  return 0;
}

async function removeAt(server: ServerFile, model: string): Promise<void> {
  const response = await fetch(new URL(ROUTES.modelRemove, server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model }),
  });
  if (response.ok) return;
  const answer = (await response.json().catch(() => undefined)) as { error?: unknown } | undefined;
  const error = errorShape.safeParse(answer?.error);
  if (error.success) throw new HearthError(error.data.code, error.data.message, error.data);
  throw new HearthError('internal', `The running Hearth answered with status ${response.status}.`);
}
