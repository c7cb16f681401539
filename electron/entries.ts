// Where the entry files of the child processes and worker threads are, in a build (dist/NAME.js) and in the sources (run by tsx).
// It starts nothing.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface Entry {
  path: string;
  /** Node options that the file needs: none in a build. */
  execArgv: string[];
}

export type EntryName = 'runtime' | 'store-worker' | 'file-worker' | 'download-worker';

const SOURCES: Record<EntryName, string> = {
  runtime: 'runtime/index.ts',
  'store-worker': 'store/worker.ts',
  'file-worker': 'library/file-worker.ts',
  'download-worker': 'library/download/worker.ts',
};

const here = dirname(fileURLToPath(import.meta.url));
const fromSources = import.meta.url.endsWith('.ts');

/** Built code may sit in a chunk below the folder of the entries. */
function built(name: string): string {
  const candidates = [here, dirname(here)].map((folder) => join(folder, `${name}.js`));
  return candidates.find((path) => existsSync(path)) ?? join(here, `${name}.js`);
}

function source(name: EntryName): Entry {
  // An absolute address: a bare `--import tsx` is looked up from the child's working directory.
  const loader = createRequire(import.meta.url).resolve('tsx');
  return { path: join(here, SOURCES[name]), execArgv: ['--import', pathToFileURL(loader).href] };
}

export function entry(name: EntryName): Entry {
  return fromSources ? source(name) : { path: built(name), execArgv: [] };
}

/** The folder that holds `resources/`: the checkout, or the packaged app. */
export function appRoot(): string {
  for (let folder = here; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return here;
  }
}
