// The folders as a person sees them: what they hold, what is free there, and which folders of other programs could be added. It looks at
// folders and reads nothing in them.
import { realpath, statfs } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { HearthError } from '../contract/errors';
import type { FolderNote, ModelFolder } from '../contract/models';
import { sizeOf, type Item } from './items';
import { isFolder, layoutOf, type Place } from './places';
import type { SourceFolder } from './types';

async function described(
  { id, path, kind }: SourceFolder,
  items: readonly Item[],
  notes: FolderNote[],
): Promise<ModelFolder> {
  const here = items.filter(({ source }) => source?.id === id);
  const disk = await statfs(path).catch(() => undefined);
  return {
    id,
    path,
    kind,
    present: await isFolder(path),
    models: here.length,
    bytes: here.reduce((sum, { found }) => sum + sizeOf(found), 0),
    ...(disk && { freeBytes: disk.bavail * disk.bsize }),
    suggested: false,
    notes,
  };
}

const realOf = (path: string) => realpath(path).catch(() => path);

/** Those that were added, then the places that are there and were not. */
export async function folderList(
  sources: readonly SourceFolder[],
  places: readonly Place[],
  items: readonly Item[],
  notesOf: (id: string) => FolderNote[],
): Promise<ModelFolder[]> {
  const added = await Promise.all(sources.map((source) => described(source, items, notesOf(source.id))));
  const known = await Promise.all(added.map(({ path }) => realOf(path)));
  const suggested: ModelFolder[] = [];
  for (const { path, kind } of places) {
    if (!(await isFolder(path))) continue;
    const real = await realOf(path);
    if (known.includes(real)) continue;
    known.push(real);
    const nothing = { models: 0, bytes: 0, notes: [] };
    suggested.push({ id: `place:${path}`, path, kind, present: true, suggested: true, ...nothing });
  }
  return [...added, ...suggested];
}

/** Throws file_not_found, or invalid_request where it is on the list or no whole path. */
export async function folderAt(path: string, sources: readonly SourceFolder[]): Promise<Omit<SourceFolder, 'id'>> {
  const refused = (why: string) => new HearthError('invalid_request', why, { param: 'path' });
  if (!isAbsolute(path)) throw refused('path: it must be a whole path.');
  if (!(await isFolder(path)))
    throw new HearthError('file_not_found', `There is no folder at ${path}.`, { param: 'path' });
  const real = await realpath(path);
  const known = await Promise.all(sources.map((source) => realOf(source.path)));
  if (known.includes(real)) throw refused(`${path} is on the list already.`);
  return { path: resolve(path), kind: await layoutOf(real) };
}
