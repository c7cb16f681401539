// One model in the layouts of other programs, below a home folder: as LM Studio, Ollama and the Hugging Face cache lay them out.
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { STARTER } from './hearth';

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Each model with content of its own: alike ones would be one. */
function model(path: string, mark: string): string {
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(STARTER, path);
  appendFileSync(path, mark);
  return path;
}

/** Named by its content. */
function blob(folder: string, prefix: string, mark: string): { path: string; digest: string } {
  const made = model(join(folder, 'new'), mark);
  const digest = sha256(made);
  const path = join(folder, prefix + digest);
  renameSync(made, path);
  return { path, digest };
}

function ollama(store: string): void {
  const { path, digest } = blob(join(store, 'blobs'), 'sha256-', 'o');
  const manifest = join(store, 'manifests/registry.ollama.ai/library/hearthling/latest');
  mkdirSync(dirname(manifest), { recursive: true });
  const layer = {
    mediaType: 'application/vnd.ollama.image.model',
    digest: `sha256:${digest}`,
    size: statSync(path).size,
  };
  writeFileSync(manifest, JSON.stringify({ schemaVersion: 2, layers: [layer] }));
}

function huggingFace(cache: string): void {
  const repo = join(cache, 'models--someone--cached-GGUF');
  const { path } = blob(join(repo, 'blobs'), '', 'h');
  const snapshot = join(repo, 'snapshots', '1'.repeat(40));
  mkdirSync(snapshot, { recursive: true });
  symlinkSync(path, join(snapshot, 'cached.gguf'));
}

/** The folders, as the page names them, and the name of the model in each. */
export function layOut(home: string): { path: string; kind: string; model: string }[] {
  const lmstudio = join(home, '.lmstudio/models');
  model(join(lmstudio, 'someone/studio-GGUF/studio.gguf'), 'l');
  const store = join(home, '.ollama/models');
  ollama(store);
  const cache = join(home, '.cache/huggingface/hub');
  huggingFace(cache);
  return [
    { path: lmstudio, kind: 'LM Studio', model: 'studio' },
    { path: store, kind: 'Ollama', model: 'hearthling' },
    { path: cache, kind: 'Hugging Face', model: 'cached' },
  ];
}

/** Every file below a folder with its size and time: what must not change. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = statSync(path);
      return `${path} ${size} ${mtimeMs}`;
    })
    .sort();
}
