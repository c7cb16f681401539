// Removes a model's files, where they are Hearth's own: checked by where they really lie, immediately before. Nothing else is removed.
import { realpath, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { HearthError } from '../contract/errors';
import { onDisk } from './file-work';
import type { Found } from './scan';
import { isWithin } from './walk';

/** The path as it lies, links of its folders resolved; the last name is kept: a link itself is what is removed, not its target. */
async function placeOf(path: string): Promise<string> {
  return join(await realpath(dirname(path)), basename(path));
}

async function owned(path: string, root: string): Promise<string> {
  const place = await placeOf(resolve(path));
  if (place !== root && isWithin(place, root)) return place;
  throw new HearthError('not_owned', `${path} does not lie in Hearth's own folder. It was left as it is.`);
}

/** `others`: paths of the other models, so that a folder that holds one is not removed whole. Throws HearthError{not_owned | disk_error}. */
export async function removeFiles(found: Found, ownFolder: string, others: readonly string[]): Promise<void> {
  await onDisk(found.path, async () => {
    const root = await realpath(ownFolder);
    const files = await Promise.all(found.files.map(({ path }) => owned(path, root)));
    const whole = found.isFolder && resolve(found.path) !== resolve(ownFolder);
    if (whole && !others.some((path) => isWithin(path, found.path))) {
      await rm(await owned(found.path, root), { recursive: true, maxRetries: 3 });
    } else for (const file of files) await rm(file, { force: true, maxRetries: 3 });
    await removeEmpty(dirname(found.isFolder && whole ? found.path : (files[0] ?? found.path)), root);
  });
}

/** Folders that only held what is gone. */
async function removeEmpty(folder: string, root: string): Promise<void> {
  for (let at = await realpath(folder).catch(() => root); at !== root && isWithin(at, root); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return; // something else is in it
    }
  }
}
