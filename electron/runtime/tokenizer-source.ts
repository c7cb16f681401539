// From what the native reader says about a model's tokenizer to what createTokenizer takes. The only place that reads tokenizer.json.
import { readFileSync, statSync } from 'node:fs';
import { HearthError } from '../contract/errors';
import type { NativeTokenizerData } from './addon';
import type { TokenizerSource } from './tokenizer';

/** The largest known one (Gemma) has 33 MB; more than this is no tokenizer. */
const LARGEST_JSON = 128 * 1024 * 1024;

/** Throws HearthError{bad_file} where tokenizer.json cannot be read. Blocks: for threads that may. */
export function tokenizerSource(data: NativeTokenizerData): TokenizerSource {
  const { tokenizerJson: path, ...rest } = data;
  return path ? { ...rest, tokenizerJson: readJson(path) } : rest;
}

function readJson(path: string): string {
  try {
    if (statSync(path).size > LARGEST_JSON) throw new Error('it is too large');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HearthError('bad_file', `tokenizer.json cannot be read: ${why}`, { cause: error });
  }
}
