// Calls to the app's own API of the Hearth that is running. Its errors come through as they are.
import type { z } from 'zod';
import { runningServer } from '../app';
import { HearthError, errorShape } from '../contract/errors';
import type { ServerFile } from '../contract/own';

/** The Hearth that runs on this data directory. Throws `no_model` where there is none: what a command asks of it ends with itself. */
export async function needServer(dataDir: string | undefined): Promise<ServerFile> {
  const server = await runningServer(dataDir);
  if (!server) throw new HearthError('no_model', 'No Hearth is running. Start one with `hearth serve`.');
  return server;
}

/** Throws HearthError with what the server said. */
export async function ask<T>(server: ServerFile, path: string, answer: z.ZodType<T>): Promise<T> {
  return answer.parse(await (await call(server, 'GET', path)).json());
}

/** A change, and what is so afterwards. */
export async function change<T>(server: ServerFile, path: string, body: object, answer: z.ZodType<T>): Promise<T> {
  return answer.parse(await (await call(server, 'POST', path, body)).json());
}

export async function tell(server: ServerFile, path: string, body: object): Promise<void> {
  await call(server, 'POST', path, body);
}

async function call(server: ServerFile, method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(new URL(path, server.url), {
    method,
    headers: {
      authorization: `Bearer ${server.token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const said = (await response.json().catch(() => undefined)) as { error?: unknown } | undefined;
  const error = errorShape.safeParse(said?.error);
  if (error.success) throw HearthError.from(error.data);
  throw new HearthError('internal', `The running Hearth answered with status ${response.status}.`);
}
