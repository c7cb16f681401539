// What a folder or a file on a disk of this computer holds that can be imported: each model with its files, named as they lie there.
import { createHash } from 'node:crypto';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { HearthError } from '../../contract/errors';
import { checkNames } from '../hub/file-names';
import { isBeside } from '../hub/groups';
import { modelAt, scanFolder, type Found } from '../scan';
import type { WantedFile } from './types';

export interface ImportedModel {
  /** Folder in the models folder. */
  repo: string;
  file: string;
  /** Where the paths of the files begin on the disk. */
  from: string;
  files: WantedFile[];
}

async function withBeside(found: Found): Promise<string[]> {
  const paths = found.files.map(({ path }) => path);
  if (!found.isFolder) return paths;
  const beside = (await readdir(found.path)).filter(isBeside).map((name) => join(found.path, name));
  return [...new Set([...paths, ...beside])];
}

/** A name of the folder's own that keeps two folders of the same name apart. */
function repoName(from: string): string {
  const name =
    basename(from)
      .replace(/[^\w.-]+/g, '-')
      .replace(/^[.-]+|[.-]+$/g, '') || 'models';
  return `imported/${name}-${createHash('sha256').update(from).digest('hex').slice(0, 6)}`;
}

async function imported(found: Found, from: string): Promise<ImportedModel> {
  const paths = (await withBeside(found)).map((path) => relative(from, path).split(sep).join('/'));
  checkNames(paths);
  const sizes = await Promise.all(paths.map(async (path) => (await stat(join(from, path))).size));
  const files = paths.map((path, index) => ({ path, bytes: sizes[index] ?? 0 }));
  return { repo: repoName(from), file: files[0]?.path ?? '', from, files };
}

/** Throws HearthError{file_not_found | invalid_request | unsafe_name}. Broken and incomplete models are left where they are. */
export async function modelsToImport(asked: string, modelsFolder: string): Promise<ImportedModel[]> {
  const path = await realpath(resolve(asked)).catch(() => undefined);
  if (path === undefined) throw new HearthError('file_not_found', `There is nothing at ${asked}.`, { param: 'path' });
  const own = await realpath(modelsFolder).catch(() => modelsFolder);
  if ((path + sep).startsWith(own + sep)) {
    throw new HearthError('invalid_request', 'This lies in the models folder already.', { param: 'path' });
  }
  const isFolder = (await stat(path)).isDirectory();
  const one = isFolder ? undefined : await modelAt(path);
  const found = isFolder ? (await scanFolder(path)).found : one ? [one] : [];
  const whole = found.filter(({ missing }) => missing.length === 0);
  if (whole.length === 0) throw new HearthError('file_not_found', `There is no model at ${asked}.`, { param: 'path' });
  const from = isFolder ? path : dirname(path);
  return Promise.all(whole.map((model) => imported(model, from)));
}
