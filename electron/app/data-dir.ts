// Where Hearth keeps what it must remember, and the folders in it: in the data directory, unless they were moved (locations.json). It
// puts nothing else into them.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { HearthError } from '../contract/errors';
import type { LocationKind } from '../contract/models';

/** Plain data, and live: after a move it says where things are now. */
export interface DataDir {
  root: string;
  database: string;
  serverFile: string;
  models: string;
  cache: string;
  logs: string;
  /** Says what was moved where. */
  locationsFile: string;
}

type Environment = Record<string, string | undefined>;

const absolute = z.string().refine(isAbsolute);
const moved = z.object({ models: absolute, cache: absolute, chats: absolute }).partial();
export type MovedLocations = z.infer<typeof moved>;

/** A file of this name beside the app: everything stays there, on a stick as well as in a folder. */
export const PORTABLE_MARKER = 'portable';

export function portableDataDir(appFolders: readonly string[]): string | undefined {
  const folder = appFolders.find((candidate) => existsSync(join(candidate, PORTABLE_MARKER)));
  return folder === undefined ? undefined : join(folder, 'data');
}

/** `--data-dir`, else HEARTH_DATA_DIR, else `data` beside a portable app, else the system's folder for the data of applications. */
export function dataDirPath(
  chosen: string | undefined,
  env: Environment = process.env,
  platform: string = process.platform,
  appFolders: readonly string[] = [],
): string {
  const asked = chosen ?? env.HEARTH_DATA_DIR;
  if (asked) return resolve(asked);
  const portable = portableDataDir(appFolders);
  if (portable !== undefined) return portable;
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'Hearth');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Hearth');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'Hearth');
}

/**
 * The folders that a person would call "beside the app": of the file that was started, which is not always the one that runs. `root`:
 * the checkout, or what the package unpacked.
 */
export function appFolders(
  root: string,
  env: Environment = process.env,
  platform: string = process.platform,
  executable: string | undefined = process.versions.electron === undefined ? undefined : process.execPath,
): string[] {
  const own = executable === undefined ? [] : [dirname(executable)];
  // HERE.app/Contents/MacOS/Hearth
  const bundle = platform === 'darwin' ? own.map((folder) => resolve(folder, '..', '..', '..')) : [];
  const image = env.APPIMAGE ? [dirname(env.APPIMAGE)] : [];
  const unpacked = env.PORTABLE_EXECUTABLE_DIR ? [env.PORTABLE_EXECUTABLE_DIR] : [];
  return [...unpacked, ...image, ...bundle, ...own, ...(root.endsWith('.asar') ? [] : [root])];
}

/** Throws HearthError{database_error} where locations.json is nonsense: an empty start would look as if everything were lost. */
export function dataDirAt(root: string): DataDir {
  const locationsFile = join(root, 'locations.json');
  const { models, cache, chats } = readMoved(locationsFile);
  return {
    root,
    database: join(chats ?? root, 'hearth.db'),
    serverFile: join(root, 'server.json'),
    models: models ?? join(root, 'models'),
    // What is kept there can be read again: a disk that is gone is no reason to have none.
    cache: cache !== undefined && existsSync(cache) ? cache : join(root, 'cache'),
    logs: join(root, 'logs'),
    locationsFile,
  };
}

function readMoved(path: string): MovedLocations {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return {};
  }
  try {
    return moved.parse(JSON.parse(text));
  } catch (error) {
    throw new HearthError('database_error', `${path} cannot be read; it says where your models and chats are.`, {
      cause: error,
    });
  }
}

/** locations.json with one more location; whoever reads it sees the old content or the new one. */
export function withLocation(dir: DataDir, what: LocationKind, to: string): string {
  return JSON.stringify({ ...readMoved(dir.locationsFile), [what]: to });
}

export function writeLocations(path: string, text: string): void {
  const next = `${path}.next`;
  writeFileSync(next, text, { mode: 0o600, flush: true });
  renameSync(next, path);
}

/** Creates the folders, for this user only, but for those that were moved: a disk that is gone must not be made up. Throws HearthError{database_error}. */
export function openDataDir(root: string): DataDir {
  const dir = dataDirAt(root);
  const ours = [dir.models, dir.cache, dir.logs].filter((folder) => dirname(folder) === root);
  try {
    for (const folder of [dir.root, ...ours]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HearthError('database_error', `The data directory ${root} cannot be used: ${why}`, { cause: error });
  }
  const chats = dirname(dir.database);
  if (existsSync(chats)) return dir;
  throw new HearthError('database_error', `Your chats lie in ${chats}, which is not there. Connect that disk.`);
}
