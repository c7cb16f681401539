// Folders with files that are taken for models, a probe that knows them, and a look at whether a tree is as it was.
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import type { Result } from '../../../electron/contract/runtime';

export function folder(files: Record<string, string> = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'hearth-library-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  put(root, files);
  return root;
}

export function put(root: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
}

export function identified(path: string): Result<'identify'> {
  const model = {
    modelId: `id of ${path}`,
    path,
    architecture: 'gpt-oss',
    name: 'm',
    license: '',
    parameters: 1,
    fileBytes: 1,
    quantization: 'MXFP4',
    layers: 1,
    hidden: 1,
    vocabulary: 1,
    context: 4096,
    experts: 1,
    expertsUsed: 1,
  };
  return { model, abilities: { chat: true, reasoning: true, tools: true, harmony: true } };
}

/** A probe that knows files by their first letters and counts what it is asked. */
export function fakeProbe(read: (path: string) => string | undefined = () => undefined) {
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  return {
    asked,
    most: () => most,
    identify: async (path: string) => {
      asked.push(path);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
      const problem = read(path);
      if (problem !== undefined) throw new HearthError('bad_file', problem);
      return identified(path);
    },
  };
}

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Every name below `root` with its content, links as links, and times: equal before and after means untouched. */
export function treeHash(root: string): string {
  const names = (readdirSync(root, { recursive: true }) as string[]).sort();
  const lines = names.map((name) => {
    const path = join(root, name);
    const info = lstatSync(path);
    const content = info.isFile() ? sha256(readFileSync(path)) : info.isSymbolicLink() ? readlinkSync(path) : 'folder';
    return `${name} ${content} ${info.mtimeMs} ${info.ino}`;
  });
  return sha256(lines.join('\n'));
}

export async function until(condition: () => boolean, ms = 15_000): Promise<void> {
  for (const end = Date.now() + ms; !condition(); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() > end) throw new Error('It did not happen in time.');
}
