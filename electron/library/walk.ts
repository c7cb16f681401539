// A bounded walk below a folder: names, sizes and times, never contents. What is no regular file or folder is passed over, links are
// followed only within the root, and what was left out for a reason is noted. It knows no model.
import type { Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { FolderNote } from '../contract/models';

export const MAX_DEPTH = 8;
export const MAX_ENTRIES = 50_000;
const MAX_NOTES = 20;

export interface FoundFile {
  path: string;
  /** Where the file itself lies; two paths with one `real` are one file. */
  real: string;
  size: number;
  mtimeMs: number;
  /** SHA-256 that the layout of the folder tells by a name. */
  expected?: string;
}

/** One folder with its files, in the order of their names. */
export interface Listing {
  path: string;
  files: Entry[];
}

export interface Entry {
  name: string;
  path: string;
  real: string;
}

export interface Walk {
  /** As it was named. */
  root: string;
  /** Links may lead into it. */
  limit: string;
  seen: Set<string>;
  entries: number;
  notes: FolderNote[];
  /** Every folder that was read. */
  folders: string[];
}

/** A folder within a model of Hugging Face's cache may link to the blobs beside it. */
export function linkLimit(real: string): string {
  for (let folder = real; dirname(folder) !== folder; folder = dirname(folder))
    if (basename(folder).startsWith('models--')) return folder;
  return real;
}

/** Undefined: there is no such folder. */
export async function beginWalk(root: string): Promise<Walk | undefined> {
  const real = await realpath(root).catch(() => undefined);
  const info = real === undefined ? undefined : await stat(real).catch(() => undefined);
  if (real === undefined || !info?.isDirectory()) return undefined;
  return { root, limit: linkLimit(real), seen: new Set(), entries: 0, notes: [], folders: [] };
}

export function note(walk: Walk, code: FolderNote['code'], path: string): void {
  const within = relative(walk.root, path) || '.';
  const known = walk.notes.some((one) => one.code === code && one.path === within);
  if (!known && walk.notes.length < MAX_NOTES) walk.notes.push({ code, path: within });
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** A regular file with its size; undefined for everything else, pipes and devices too. */
export async function fileAt(path: string, real?: string): Promise<FoundFile | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) return undefined;
  return { path, real: real ?? (await realpath(path).catch(() => path)), size: info.size, mtimeMs: info.mtimeMs };
}

/** Names that could be part of a model: a link of another name says nothing when it is passed over. */
const TELLING = /\.(gguf|safetensors)$/i;

async function linkTarget(
  entry: Dirent,
  path: string,
  walk: Walk,
): Promise<{ kind: 'file' | 'folder'; real: string } | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  const info = await stat(real).catch(() => undefined);
  const kind = info?.isDirectory() ? 'folder' : info?.isFile() ? 'file' : undefined;
  if (kind === undefined) return undefined;
  if (isWithin(real, walk.limit)) return { kind, real };
  if (kind === 'folder' || TELLING.test(entry.name)) note(walk, 'link_outside', path);
  return undefined;
}

async function entriesOf(folder: string, walk: Walk): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      if (walk.entries >= MAX_ENTRIES) {
        note(walk, 'too_many_entries', walk.root);
        break;
      }
      walk.entries += 1;
      entries.push(entry);
    }
  } catch {
    note(walk, 'unreadable', folder);
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Every folder below `folder`, itself first. Hidden ones are passed over, and each is read once, however many links lead to it. */
export async function* listings(walk: Walk, folder = walk.root, depth = 0): AsyncGenerator<Listing> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || walk.seen.has(real)) return;
  if (depth > MAX_DEPTH) return note(walk, 'too_deep', folder);
  walk.seen.add(real);
  walk.folders.push(folder);
  const files: Entry[] = [];
  const folders: string[] = [];
  for (const entry of await entriesOf(folder, walk)) {
    const path = join(folder, entry.name);
    const target = entry.isSymbolicLink()
      ? await linkTarget(entry, path, walk)
      : { kind: entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : undefined, real: join(real, entry.name) };
    if (target?.kind === 'file') files.push({ name: entry.name, path, real: target.real });
    if (target?.kind === 'folder' && !entry.name.startsWith('.')) folders.push(path);
  }
  yield { path: folder, files };
  for (const path of folders) yield* listings(walk, path, depth + 1);
}
