// What lies in a folder that could be a model: GGUF files, whole or split, folders in Hugging Face's layout (its cache too), and Ollama's
// store. It reads names and sizes (and Ollama's manifests), never a model.
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FolderKind, FolderNote } from '../contract/models';
import { shardOf } from './names';
import { ollamaModels, ollamaRoot } from './ollama';
import { beginWalk, fileAt, listings, type Entry, type FoundFile, type Listing, type Walk } from './walk';

/** A model as the engine opens it: a file, the first part of a split one, or a folder. */
export interface Found {
  path: string;
  isFolder: boolean;
  files: FoundFile[];
  /** Parts of a split file that are not there. */
  missing: number[];
  /** What the folder calls it, where the file's own name says nothing. */
  titles?: string[];
}

export interface Scan {
  found: Found[];
  notes: FolderNote[];
  /** Every folder that was read, for whoever watches them. */
  folders: string[];
}

const EMPTY: Scan = { found: [], notes: [], folders: [] };

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

/** In Hugging Face's cache a large file is a link to a blob that is named by its hash. */
function cachedHash({ real }: Entry): string | undefined {
  const name = basename(real);
  return basename(dirname(real)) === 'blobs' && /^[0-9a-f]{64}$/.test(name) ? name : undefined;
}

async function existing(entries: readonly Entry[]): Promise<FoundFile[]> {
  const files: FoundFile[] = [];
  for (const entry of entries) {
    const file = await fileAt(entry.path, entry.real);
    const expected = cachedHash(entry);
    if (file) files.push({ ...file, ...(expected !== undefined && { expected }) });
  }
  return files;
}

async function modelsIn({ path, files }: Listing): Promise<Found[]> {
  const found = splitSets(path, await existing(files.filter(({ name }) => isModelFile(name))));
  const weights = files.filter(({ name }) => name.endsWith('.safetensors'));
  const config = files.filter(({ name }) => name === 'config.json');
  if (weights.length > 0 && config.length > 0) {
    const parts = await existing([...config, ...weights]);
    if (parts.length > config.length) found.push({ path, isFolder: true, files: parts, missing: [] });
  }
  return found;
}

async function everywhere(walk: Walk): Promise<Found[]> {
  const found: Found[] = [];
  for await (const listing of listings(walk)) found.push(...(await modelsIn(listing)));
  return found;
}

/** Everything below `root`; a folder that is not there is empty. */
export async function scanFolder(root: string, kind: FolderKind = 'user'): Promise<Scan> {
  const ollama = kind === 'ollama' ? await ollamaRoot(root) : undefined;
  const walk = await beginWalk(ollama ?? root);
  if (!walk) return EMPTY;
  const found = ollama === undefined ? await everywhere(walk) : await ollamaModels(walk);
  return { found, notes: walk.notes, folders: walk.folders };
}

async function listingAt(path: string): Promise<Listing> {
  const names = await readdir(path).catch(() => []);
  return { path, files: names.map((name) => ({ name, path: join(path, name), real: join(path, name) })) };
}

/** The model at a path that somebody named: a file, any part of a split one, or a folder with a model. */
export async function modelAt(path: string): Promise<Found | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) {
    const found = await modelsIn(await listingAt(path));
    return found.find((model) => model.isFolder) ?? found[0];
  }
  const file = await fileAt(path);
  if (!file) return undefined;
  const shard = shardOf(basename(path));
  if (!shard) return { path, isFolder: false, files: [file], missing: [] };
  const beside = await modelsIn(await listingAt(dirname(path)));
  return beside.find((model) => model.files.some((entry) => entry.path === path));
}
