// What a model is called in the API, and which model a name means. Pure functions; a name never leads to a file by being a path.
import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';

const SHARD = /^(.*)-(\d{5})-of-(\d{5})$/;

export interface Shard {
  base: string;
  index: number;
  total: number;
}

/** `base-00001-of-00003.gguf`, the way split GGUF files are named. */
export function shardOf(file: string): Shard | undefined {
  const match = SHARD.exec(file.replace(/\.gguf$/i, ''));
  if (!match) return undefined;
  const [, base = '', index, total] = match;
  return { base, index: Number(index), total: Number(total) };
}

/** Hugging Face's cache keeps a model under models--OWNER--NAME/snapshots/HASH. */
function folderName(path: string): string {
  const cached = /^models--(?:.+--)?(.+)$/.exec(basename(dirname(dirname(path))));
  return basename(dirname(path)) === 'snapshots' && cached?.[1] !== undefined ? cached[1] : basename(path);
}

const CONTROL = /[\p{Cc}\p{Cf}]/gu;

/** As a name is written: in lower case, without what cannot be seen, spaces or slashes. */
export function asName(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(CONTROL, '')
      .trim()
      .replace(/[\s/\\]+/g, '-') || 'model'
  );
}

/** The title that a layout gives it, else the lower-case stem of the file without its shard suffix, or the folder's name. */
export function plainName(path: string, isFolder: boolean, title?: string): string {
  if (title !== undefined) return asName(title);
  const stem = isFolder ? folderName(path) : (shardOf(basename(path))?.base ?? basename(path).replace(/\.gguf$/i, ''));
  return asName(stem);
}

export interface Named {
  path: string;
  isFolder: boolean;
  builtin: boolean;
  title?: string;
}

/** One name each, in the order given. All of those that clash get `@` and six hex digits, but for the one that ships with Hearth. */
export function namesOf(models: readonly Named[]): string[] {
  const plain = models.map(({ path, isFolder, title }) => plainName(path, isFolder, title));
  const count = new Map<string, number>();
  for (const name of plain) count.set(name, (count.get(name) ?? 0) + 1);
  const taken = new Set<string>();
  return models.map(({ path, builtin }, index) => {
    const name = plain[index] ?? 'model';
    const alone = count.get(name) === 1 || (builtin && !taken.has(name));
    const unique = alone ? name : `${name}@${createHash('sha256').update(path).digest('hex').slice(0, 6)}`;
    taken.add(unique);
    return unique;
  });
}

/** Levenshtein's distance, given up once it must exceed `limit`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > limit) return limit + 1;
    row = next;
  }
  return row[b.length] ?? limit + 1;
}

const MAX_NAME = 200;
const MAX_NEAR = 5;

/** As clients may spell a name: with capitals, with the file's extension, or with the tag that Ollama adds by itself. */
export const normalName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/\.gguf$/, '')
    .replace(/:latest$/, '');

/** The names that somebody who wrote `name` may have meant, best first. */
export function nearNames(name: string, names: readonly string[]): string[] {
  const wanted = normalName(name.slice(0, MAX_NAME));
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  const scored = names.map((candidate) => {
    const part = wanted.length >= 3 && (candidate.includes(wanted) || wanted.includes(candidate));
    return { candidate, distance: part ? 1 : editDistance(wanted, candidate, limit) };
  });
  return scored
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_NEAR)
    .map(({ candidate }) => candidate);
}
