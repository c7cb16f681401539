// What a model file says about its tokenizer, as plain data: GGUF metadata or the text of a tokenizer.json.
// It reads no file and decides nothing; the runtime fills it from the native reader.
import type { FlatTexts } from './flat-texts';

/** A byte string: a JS string where the bytes are valid UTF-8, else the bytes themselves. */
export type RawText = string | Uint8Array;

/** Mirrors TokenizerData of native/include/hearth/probe.h. Every field but the vocabulary's source may be left out. */
export interface TokenizerSource {
  /** 'gpt2' (byte-level BPE) or 'llama' (SentencePiece scores); '' when `tokenizerJson` is the source. */
  model: string;
  /** Name of the pre-tokenizer (GGUF). */
  pre?: string;
  tokens?: readonly RawText[] | FlatTexts;
  /** "left right", best first. */
  merges?: readonly RawText[] | FlatTexts;
  scores?: ArrayLike<number>;
  /** See TokenKind. */
  types?: ArrayLike<number>;
  /** Ids; absent or -1 where the file names none. */
  bos?: number;
  eos?: number;
  /** Further ids that end an answer. */
  eosIds?: readonly number[];
  unknown?: number;
  padding?: number;
  addBos?: boolean;
  addEos?: boolean;
  addSpacePrefix?: boolean;
  chatTemplate?: string;
  /** The text of tokenizer.json (not its path). */
  tokenizerJson?: string;
}

/** tokenizer.ggml.token_type */
export const TokenKind = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;
