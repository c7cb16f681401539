// Where Hearth keeps what it must remember, and the folders in it. It puts nothing into them.
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { HearthError } from '../contract/errors';

export interface DataDir {
  root: string;
  database: string;
  serverFile: string;
  models: string;
  cache: string;
  logs: string;
}

type Environment = Record<string, string | undefined>;

/** `--data-dir`, else HEARTH_DATA_DIR, else the system's folder for the data of applications. */
export function dataDirPath(
  chosen: string | undefined,
  env: Environment = process.env,
  platform: string = process.platform,
): string {
  const asked = chosen ?? env.HEARTH_DATA_DIR;
  if (asked) return resolve(asked);
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'Hearth');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Hearth');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'Hearth');
}

export function dataDirAt(root: string): DataDir {
  return {
    root,
    database: join(root, 'hearth.db'),
    serverFile: join(root, 'server.json'),
    models: join(root, 'models'),
    cache: join(root, 'cache'),
    logs: join(root, 'logs'),
  };
}

/** Creates the folders, for this user only. Throws HearthError{database_error}. */
export function openDataDir(root: string): DataDir {
  const dir = dataDirAt(root);
  try {
    for (const folder of [dir.root, dir.models, dir.cache, dir.logs])
      mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HearthError('database_error', `The data directory ${root} cannot be used: ${why}`, { cause: error });
  }
  return dir;
}
