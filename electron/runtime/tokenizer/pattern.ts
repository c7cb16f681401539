// Pre-tokenizer patterns: the known ones by GGUF name, and the way of other engines' regular expressions into JavaScript's.
// Unicode's own White_Space is used for \s: JavaScript's differs in U+0085 and U+FEFF.
import { HearthError } from '../../contract/errors';

/** Letters that match each other without regard to case, beyond the ASCII pair. */
const EXTRA_FOLDS: Record<string, string> = { s: '\u017f', k: '\u212a' };

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const SPACES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const O200K =
  `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+${CONTRACTIONS}?|[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*${CONTRACTIONS}?` +
  `|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${SPACES}`;
const LLAMA3 = `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${SPACES}`;
const QWEN2 = `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${SPACES}`;
const TEKKEN =
  `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+|[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*` +
  `|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${SPACES}`;

export interface PreTokenizerSpec {
  /** Applied one after the other, each to the pieces of the one before. */
  patterns: string[];
  /** A piece that is itself a token is not built up from merges. */
  ignoreMerges: boolean;
  /** Text is normalised to NFC first. */
  nfc: boolean;
}

const spec = (patterns: string[], ignoreMerges = false, nfc = false): PreTokenizerSpec => ({
  patterns,
  ignoreMerges,
  nfc,
});

const BY_NAME: Record<string, PreTokenizerSpec> = {
  'gpt-4o': spec([O200K], true),
  llama4: spec([O200K], true),
  'gpt-2': spec([GPT2]),
  default: spec([GPT2]),
  smollm: spec(['\\p{N}', GPT2]),
  'llama-bpe': spec([LLAMA3], true),
  qwen2: spec([QWEN2], false, true),
  tekken: spec([TEKKEN], true),
};
const ALIASES: Record<string, string> = {
  '': 'default',
  gpt2: 'gpt-2',
  llama3: 'llama-bpe',
  'llama-v3': 'llama-bpe',
  starcoder: 'smollm',
  refact: 'smollm',
  'deepseek-r1-qwen': 'qwen2',
};

/** The pre-tokenizer that a GGUF file names. Throws HearthError{unsupported_architecture} for an unknown one. */
export function preTokenizerByName(name: string): PreTokenizerSpec {
  const key = ALIASES[name] ?? name;
  if (Object.hasOwn(BY_NAME, key)) return BY_NAME[key]!;
  throw new HearthError('unsupported_architecture', `This model's pre-tokenizer "${name}" is not known.`);
}

export const GPT2_PATTERN = GPT2;

const KNOWN = new Set([O200K, LLAMA3, QWEN2, TEKKEN, GPT2, '\\p{N}', '\\p{N}+']);

/** The pattern is of a known family: long text may be cut where all of them cut (see pre-tokenizer.ts). */
export function isKnownPattern(pattern: string): boolean {
  return KNOWN.has(pattern);
}

/** A JavaScript expression (flags g, u) for a pattern in the syntax of Rust's or Oniguruma's regular expressions. */
export function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(translate(pattern), 'gu');
  } catch (cause) {
    const message = `This model's pre-tokenizer pattern is not supported: ${pattern.slice(0, 200)}`;
    throw new HearthError('unsupported_architecture', message, { cause });
  }
}

export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function translate(pattern: string): string {
  let out = '';
  const caseless: boolean[] = [];
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!;
    const ignoreCase = caseless.at(-1) ?? false;
    if (c === '\\') {
      out += translateEscape(pattern[++i] ?? '', inClass);
    } else if (inClass) {
      if (c === ']') inClass = false;
      if (c === '[') throw new SyntaxError('nested class');
      out += c;
    } else if (c === '(') {
      const marked = pattern.startsWith('(?i:', i);
      caseless.push(marked || ignoreCase);
      out += marked ? '(?:' : c;
      if (marked) i += 3;
    } else if (c === ')') {
      caseless.pop();
      out += c;
    } else {
      inClass = c === '[';
      out += ignoreCase && /[a-zA-Z]/.test(c) ? caselessLetter(c) : c;
    }
  }
  return out;
}

function caselessLetter(letter: string): string {
  const lower = letter.toLowerCase();
  return `[${lower}${lower.toUpperCase()}${EXTRA_FOLDS[lower] ?? ''}]`;
}

function translateEscape(c: string, inClass: boolean): string {
  switch (c) {
    case 's':
      return '\\p{White_Space}';
    case 'S':
      return '\\P{White_Space}';
    case 'd':
      return '\\p{Nd}';
    case 'w':
      return inClass ? '\\p{L}\\p{M}\\p{Nd}\\p{Pc}' : '[\\p{L}\\p{M}\\p{Nd}\\p{Pc}]';
    case 'A':
    case 'z':
    case 'Z':
    case 'G':
    case 'K':
      throw new SyntaxError(`\\${c}`);
    default:
      // the u flag refuses escapes of characters that need none
      return /[!"#%&',:;<=>@_`~ ]/.test(c) || (c === '-' && !inClass) ? c : `\\${c}`;
  }
}
