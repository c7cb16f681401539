// What ships with Hearth: its version, the built page, the models, the catalogue. Paths only.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { appRoot } from '../entries';

export interface Resources {
  version: string;
  /** The built page; absent in sources that were not built. */
  page?: string;
  /** Model files that ship with Hearth. */
  models: string[];
}

/** Packaged, the models lie beside the archive, where the engine can map them. */
export function resources(root: string = appRoot()): Resources {
  const page = join(root, 'dist', 'renderer');
  const starter = [join(root, 'resources', 'starter'), join(dirname(root), 'starter')].find((folder) =>
    existsSync(folder),
  );
  const built = existsSync(join(page, 'index.html'));
  return { version: version(root), ...(built && { page }), models: starter ? models(starter) : [] };
}

/** Packaged, it lies beside the archive. */
export function cataloguePath(root: string = appRoot()): string {
  const places = [join(root, 'resources', 'catalogue.json'), join(dirname(root), 'catalogue.json')];
  return places.find((path) => existsSync(path)) ?? join(root, 'resources', 'catalogue.json');
}

function models(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.gguf'))
    .map((name) => join(folder, name));
}

function version(root: string): string {
  try {
    const { version: text } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version?: unknown };
    return typeof text === 'string' ? text : '0.0.0';
  } catch {
    return '0.0.0';
  }
}
