// The door of the tokenizers: what the rest of the runtime may use.
import { tokenizerFromGguf } from './from-gguf';
import { tokenizerFromJson } from './from-json';
import type { TokenizerSource } from './source';
import type { Tokenizer } from './tokenizer';

export type { FlatTexts } from './flat-texts';
export { StreamDecoder } from './stream-decoder';
export { TokenKind, type RawText, type TokenizerSource } from './source';
export { Tokenizer, type Run } from './tokenizer';
export type { TokenId, Vocabulary } from './vocabulary';

/**
 * The tokenizer that a model file describes.
 * Throws HearthError{unsupported_architecture} for kinds that are not known and {bad_file} for nonsense.
 */
export function createTokenizer(source: TokenizerSource): Tokenizer {
  return source.tokenizerJson ? tokenizerFromJson(source, source.tokenizerJson) : tokenizerFromGguf(source);
}
