// A megabyte each of English, Chinese, code and noise, put together from installed packages: the same on every machine with the
// same lock file, and never committed.
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './oracle';

const MIB = 1 << 20;
const packages = join(import.meta.dirname, '../../node_modules');

export type TextName = 'english' | 'chinese' | 'code' | 'noise';

/** Writes the texts into the cache folder and gives their paths. */
export function oracleTexts(): Record<TextName, string> {
  const folder = join(cacheFolder, 'texts');
  mkdirSync(folder, { recursive: true });
  const texts: Record<TextName, () => string> = {
    english: () => collect(/\.md$/),
    chinese,
    code: () => collect(/(?<!\.min)\.(m?js|ts)$/),
    noise,
  };
  const paths = {} as Record<TextName, string>;
  for (const [name, make] of Object.entries(texts) as [TextName, () => string][]) {
    paths[name] = join(folder, `${name}.txt`);
    writeFileSync(paths[name], cut(make()));
  }
  return paths;
}

function collect(pattern: RegExp): string {
  const parts: string[] = [];
  let size = 0;
  for (const path of files(packages)) {
    if (!pattern.test(path) || statSync(path).size > 200_000) continue;
    parts.push(readFileSync(path, 'utf8'));
    size += parts.at(-1)!.length;
    if (size > MIB) break;
  }
  return parts.join('');
}

function* files(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (entry.isFile()) yield path;
  }
}

function chinese(): string {
  let text = '';
  for (const language of ['zh-cn', 'zh-tw']) {
    const path = join(packages, 'typescript/lib', language, 'diagnosticMessages.generated.json');
    text += Object.values(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>).join('\n');
  }
  return text.repeat(Math.ceil(MIB / text.length));
}

/** Half bytes as Latin-1, a quarter bytes as UTF-8, a quarter random code points. */
function noise(): string {
  let state = 12_345;
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  const bytes = Buffer.from(Array.from({ length: MIB / 3 }, () => Math.floor(random() * 256)));
  let points = '';
  for (let i = 0; i < MIB / 12; i++) {
    const point = Math.floor(random() * (random() < 0.5 ? 0x3000 : 0x20000));
    points += point >= 0xd800 && point < 0xe000 ? ' ' : String.fromCodePoint(point);
  }
  return bytes.toString('latin1') + bytes.toString('utf8').slice(0, MIB / 6) + points;
}

function cut(text: string): string {
  return Buffer.from(text)
    .subarray(0, MIB)
    .toString('utf8')
    .replace(/\ufffd$/, '');
}
