// What lies in a folder that could be a model: GGUF files, whole or split, and folders in Hugging Face's layout. It reads names and
// sizes and never a model. Links that lead out of the folder are not followed; depth and number of entries are bounded.
import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { shardOf } from './names';

export const MAX_DEPTH = 8;
export const MAX_ENTRIES = 50_000;

export interface FoundFile {
  path: string;
  size: number;
  mtimeMs: number;
}

/** A model as the engine opens it: a file, the first part of a split one, or a folder. */
export interface Found {
  path: string;
  isFolder: boolean;
  files: FoundFile[];
  /** Parts of a split file that are not there. */
  missing: number[];
}

interface Walk {
  root: string;
  seen: Set<string>;
  entries: number;
}

async function fileAt(path: string): Promise<FoundFile | undefined> {
  const info = await stat(path).catch(() => undefined);
  return info?.isFile() ? { path, size: info.size, mtimeMs: info.mtimeMs } : undefined;
}

/** What a link leads to, if that is within the folder. Hugging Face's cache is made of such links. */
async function linkTarget(path: string, { root }: Walk): Promise<'file' | 'folder' | undefined> {
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined || !(target + sep).startsWith(root + sep)) return undefined;
  const info = await stat(target).catch(() => undefined);
  return info?.isDirectory() ? 'folder' : info?.isFile() ? 'file' : undefined;
}

async function kindOf(entry: Dirent, path: string, walk: Walk): Promise<'file' | 'folder' | undefined> {
  if (entry.isSymbolicLink()) return linkTarget(path, walk);
  return entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : undefined;
}

/** A projector for pictures is no model by itself. */
const isModelFile = (name: string) => /\.gguf$/i.test(name) && !/^mmproj/i.test(name);

function splitSets(folder: string, files: readonly FoundFile[]): Found[] {
  const sets = new Map<string, { total: number; parts: Map<number, FoundFile> }>();
  const single: Found[] = [];
  for (const file of files) {
    const shard = shardOf(basename(file.path));
    if (!shard || shard.total < 1 || shard.index < 1 || shard.index > shard.total) {
      single.push({ path: file.path, isFolder: false, files: [file], missing: [] });
      continue;
    }
    const key = `${shard.base}-${shard.total}`;
    const set = sets.get(key) ?? { total: shard.total, parts: new Map<number, FoundFile>() };
    set.parts.set(shard.index, file);
    sets.set(key, set);
  }
  const split = [...sets.values()].map(({ total, parts }): Found => {
    const present = [...parts.keys()].sort((a, b) => a - b);
    const first = parts.get(present[0] ?? 1);
    const missing = Array.from({ length: total }, (_, index) => index + 1).filter((index) => !parts.has(index));
    return {
      path: first?.path ?? folder,
      isFolder: false,
      files: present.map((index) => parts.get(index)).filter((file) => file !== undefined),
      missing,
    };
  });
  return [...single, ...split];
}

async function existing(folder: string, names: readonly string[]): Promise<FoundFile[]> {
  const files = await Promise.all(names.map((name) => fileAt(join(folder, name))));
  return files.filter((file) => file !== undefined);
}

async function modelsIn(folder: string, names: readonly string[]): Promise<Found[]> {
  const found = splitSets(folder, await existing(folder, names.filter(isModelFile)));
  const weights = names.filter((name) => name.endsWith('.safetensors'));
  if (weights.length > 0 && names.includes('config.json')) {
    const files = await existing(folder, ['config.json', ...weights]);
    found.push({ path: folder, isFolder: true, files, missing: [] });
  }
  return found;
}

async function walkFolder(folder: string, depth: number, walk: Walk): Promise<Found[]> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || walk.seen.has(real) || depth > MAX_DEPTH) return [];
  walk.seen.add(real);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (++walk.entries > MAX_ENTRIES) break;
    const kind = await kindOf(entry, join(folder, entry.name), walk);
    if (kind === 'file') files.push(entry.name);
    if (kind === 'folder' && !entry.name.startsWith('.')) folders.push(entry.name);
  }
  const found = await modelsIn(folder, files);
  for (const name of folders) found.push(...(await walkFolder(join(folder, name), depth + 1, walk)));
  return found;
}

/** Everything below `root`; a folder that is not there is empty. */
export async function scanFolder(root: string): Promise<Found[]> {
  const real = await realpath(root).catch(() => undefined);
  return real === undefined ? [] : walkFolder(root, 0, { root: real, seen: new Set(), entries: 0 });
}

/** The model at a path that somebody named: a file, any part of a split one, or a folder with a model. */
export async function modelAt(path: string): Promise<Found | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) {
    const names = await readdir(path).catch(() => []);
    const found = await modelsIn(path, names);
    return found.find((model) => model.isFolder) ?? found[0];
  }
  const file = await fileAt(path);
  if (!file) return undefined;
  const shard = shardOf(basename(path));
  if (!shard) return { path, isFolder: false, files: [file], missing: [] };
  const names = await readdir(dirname(path)).catch(() => []);
  return (await modelsIn(dirname(path), names)).find((model) => model.files.some((entry) => entry.path === path));
}
