// Builds a tokenizer from GGUF metadata: byte-level BPE ("gpt2") and SentencePiece scores ("llama").
import { HearthError } from '../../contract/errors';
import { BYTE_TO_CODE } from './byte-level';
import { BytePairModel } from './byte-pair';
import { MergeTable } from './merge-table';
import { preTokenizerByName } from './pattern';
import { PreTokenizer } from './pre-tokenizer';
import { SentencePieceModel } from './sentence-piece';
import { TokenKind, rawToString, type RawText, type TokenizerSource } from './source';
import { Tokenizer, type TextModel } from './tokenizer';
import { Vocabulary, type TokenId } from './vocabulary';

/** Throws HearthError{unsupported_architecture | bad_file}. */
export function tokenizerFromGguf(source: TokenizerSource): Tokenizer {
  const tokens = (source.tokens ?? []).map(rawToString);
  if (tokens.length === 0) throw new HearthError('bad_file', 'The model file has no vocabulary.');
  const byteLevel = source.model === 'gpt2';
  if (!byteLevel && source.model !== 'llama') {
    throw new HearthError('unsupported_architecture', `Tokenizers of the kind "${source.model}" are not supported.`);
  }
  const vocabulary = new Vocabulary(tokens, source.types, byteLevel ? 'byte-level' : 'sentencepiece');
  for (const id of [source.bos, source.eos, ...(source.eosIds ?? [])]) {
    if (id !== undefined && id >= 0 && id < tokens.length) vocabulary.markControl(id, tokens[id]!);
  }
  const ids = spokenTokens(tokens, vocabulary);
  const nfc = byteLevel && preTokenizerByName(source.pre ?? '').nfc;
  return new Tokenizer({
    vocabulary,
    model: byteLevel ? bytePair(source, ids, vocabulary) : sentencePiece(source, ids, vocabulary),
    ...(nfc && { normalise: (text: string) => text.normalize('NFC') }),
    bos: source.bos ?? -1,
    eos: source.eos ?? -1,
    eosIds: source.eosIds ?? [],
    addBos: source.addBos ?? false,
    addEos: source.addEos ?? false,
    chatTemplate: source.chatTemplate ?? '',
  });
}

/** Ids by spelling, of the tokens that plain text may become. The lowest id wins where a spelling occurs twice. */
function spokenTokens(tokens: readonly string[], vocabulary: Vocabulary): Map<string, TokenId> {
  const ids = new Map<string, TokenId>();
  for (let id = tokens.length - 1; id >= 0; id--) {
    const kind = vocabulary.kind(id);
    if (kind === TokenKind.normal || kind === TokenKind.byte || kind === TokenKind.userDefined)
      ids.set(tokens[id]!, id);
  }
  return ids;
}

function bytePair(source: TokenizerSource, ids: Map<string, TokenId>, vocabulary: Vocabulary): TextModel {
  const pre = preTokenizerByName(source.pre ?? '');
  const steps = pre.patterns.map((pattern) => ({ pattern, behaviour: 'isolated' as const, invert: false }));
  return new BytePairModel({
    preTokenizer: new PreTokenizer(steps, true),
    merges: mergeTable(source.merges ?? [], ids),
    byteTokens: byteLevelTokens(ids),
    ...(pre.ignoreMerges && { wholePieces: ids }),
    unknown: unknownToken(vocabulary, source.unknown),
  });
}

/** Files may name a control token here; plain text must not become that. */
export function unknownToken(vocabulary: Vocabulary, id: TokenId | undefined): TokenId {
  return id !== undefined && id >= 0 && id < vocabulary.size && !vocabulary.isControl(id) ? id : -1;
}

export function byteLevelTokens(ids: ReadonlyMap<string, TokenId>): Int32Array {
  return Int32Array.from(BYTE_TO_CODE, (code) => ids.get(String.fromCharCode(code)) ?? -1);
}

/** Rank is the place in the list. Rules whose parts or result are no tokens of plain text are left out. */
export function mergeTable(
  merges: readonly (RawText | readonly [string, string])[],
  ids: ReadonlyMap<string, TokenId>,
) {
  const table = new MergeTable(merges.length);
  merges.forEach((merge, rank) => {
    let left: string;
    let right: string;
    if (typeof merge === 'string' || merge instanceof Uint8Array) {
      const text = rawToString(merge);
      const space = text.indexOf(' ', 1);
      if (space < 0) return;
      left = text.slice(0, space);
      right = text.slice(space + 1);
    } else {
      [left, right] = merge;
    }
    const leftId = ids.get(left);
    const rightId = ids.get(right);
    const merged = ids.get(left + right);
    if (leftId !== undefined && rightId !== undefined && merged !== undefined) table.add(leftId, rightId, rank, merged);
  });
  return table;
}

function sentencePiece(source: TokenizerSource, ids: Map<string, TokenId>, vocabulary: Vocabulary): TextModel {
  return new SentencePieceModel({
    ids: new Map([...ids].filter(([, id]) => vocabulary.kind(id) !== TokenKind.byte)),
    scores: source.scores ?? [],
    byteTokens: byteFallbackTokens(vocabulary),
    unknown: unknownToken(vocabulary, source.unknown),
    addSpacePrefix: source.addSpacePrefix ?? true,
  });
}

/** Token of each byte among those that stand for single bytes, else -1. */
export function byteFallbackTokens(vocabulary: Vocabulary): Int32Array {
  const tokens = new Int32Array(256).fill(-1);
  for (let id = 0; id < vocabulary.size; id++) {
    if (vocabulary.kind(id) === TokenKind.byte && vocabulary.byteLength(id) === 1)
      tokens[vocabulary.bytes(id)[0]!] = id;
  }
  return tokens;
}
