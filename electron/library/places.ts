// Where other programs keep their models on this computer, and whose layout a folder has. It looks at names of folders only, and reads
// nothing in them.
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { opendir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { FolderKind } from '../contract/models';
import { ollamaRoot } from './ollama';

export interface Place {
  path: string;
  kind: FolderKind;
}

type Environment = Record<string, string | undefined>;

/** In the order in which they are offered; most do not exist. */
export function standardPlaces(env: Environment = process.env, platform: string = process.platform): Place[] {
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const cache = env.XDG_CACHE_HOME || join(home, '.cache');
  const given = (path: string | undefined, kind: FolderKind): Place[] => (path ? [{ path, kind }] : []);
  return [
    ...given(env.OLLAMA_MODELS, 'ollama'),
    { path: join(home, '.ollama', 'models'), kind: 'ollama' },
    ...(platform === 'linux' ? given('/usr/share/ollama/.ollama/models', 'ollama') : []),
    { path: join(home, '.lmstudio', 'models'), kind: 'lmstudio' },
    { path: join(home, '.cache', 'lm-studio', 'models'), kind: 'lmstudio' },
    ...given(env.HF_HUB_CACHE ?? env.HUGGINGFACE_HUB_CACHE, 'huggingface'),
    ...(env.HF_HOME ? given(join(env.HF_HOME, 'hub'), 'huggingface') : []),
    { path: join(cache, 'huggingface', 'hub'), kind: 'huggingface' },
    ...given(env.LLAMA_CACHE, 'user'),
    { path: join(cache, 'llama.cpp'), kind: 'user' },
  ];
}

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );

/** How many entries are looked at for a name that tells. */
const LOOKED_AT = 200;

async function hasCachedModel(folder: string): Promise<boolean> {
  let left = LOOKED_AT;
  try {
    for await (const entry of await opendir(folder)) {
      if (entry.name.startsWith('models--')) return true;
      if (--left === 0) return false;
    }
  } catch {
    // Not a folder that can be read.
  }
  return false;
}

/** Whose layout the folder has. */
export async function layoutOf(path: string): Promise<FolderKind> {
  if ((await ollamaRoot(path)) !== undefined) return 'ollama';
  const parts = path.split(sep);
  if (parts.some((part) => part.startsWith('models--'))) return 'huggingface';
  if ((await hasCachedModel(path)) || (await hasCachedModel(join(path, 'hub')))) return 'huggingface';
  return parts.some((part) => /^\.?lm-?studio$/i.test(part)) ? 'lmstudio' : 'user';
}
