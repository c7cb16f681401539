// Builds a tokenizer from GGUF metadata: byte-level BPE ("gpt2") and SentencePiece scores ("llama").
import { HearthError } from '../../contract/errors';
import { BYTE_TO_CODE } from './byte-level';
import { BytePairModel } from './byte-pair';
import { flatTexts, startOf, textAt, type FlatTexts } from './flat-texts';
import { MergeTable } from './merge-table';
import { preTokenizerByName } from './pattern';
import { PreTokenizer } from './pre-tokenizer';
import { SentencePieceModel } from './sentence-piece';
import { TokenKind, type TokenizerSource } from './source';
import { Spellings, type TokenIds } from './spellings';
import { Tokenizer, type TextModel } from './tokenizer';
import { Vocabulary, type TokenId } from './vocabulary';

/** Throws HearthError{unsupported_architecture | bad_file}. */
export function tokenizerFromGguf(source: TokenizerSource): Tokenizer {
  const tokens = flatTexts(source.tokens ?? []);
  const size = tokens.ends.length;
  if (size === 0) throw new HearthError('bad_file', 'The model file has no vocabulary.');
  const byteLevel = source.model === 'gpt2';
  if (!byteLevel && source.model !== 'llama') {
    throw new HearthError('unsupported_architecture', `Tokenizers of the kind "${source.model}" are not supported.`);
  }
  const vocabulary = new Vocabulary(tokens, source.types, byteLevel ? 'byte-level' : 'sentencepiece');
  for (const id of [source.bos, source.eos, ...(source.eosIds ?? [])]) {
    if (id !== undefined && id >= 0 && id < size) vocabulary.markControl(id, textAt(tokens, id));
  }
  const pre = byteLevel ? preTokenizerByName(source.pre ?? '') : undefined;
  return new Tokenizer({
    vocabulary,
    model: () => (pre ? bytePair(source, pre, tokens, vocabulary) : sentencePiece(source, tokens, vocabulary)),
    ...(pre?.nfc && { normalise: (text: string) => text.normalize('NFC') }),
    bos: source.bos ?? -1,
    eos: source.eos ?? -1,
    eosIds: source.eosIds ?? [],
    addBos: source.addBos ?? false,
    addEos: source.addEos ?? false,
    chatTemplate: source.chatTemplate ?? '',
  });
}

/** Whether plain text may become this token. */
function isSpoken(vocabulary: Vocabulary, id: TokenId): boolean {
  const kind = vocabulary.kind(id);
  return kind === TokenKind.normal || kind === TokenKind.byte || kind === TokenKind.userDefined;
}

type NamedPreTokenizer = ReturnType<typeof preTokenizerByName>;

function bytePair(
  source: TokenizerSource,
  pre: NamedPreTokenizer,
  tokens: FlatTexts,
  vocabulary: Vocabulary,
): TextModel {
  const ids = new Spellings(tokens, (id) => isSpoken(vocabulary, id));
  const steps = pre.patterns.map((pattern) => ({ pattern, behaviour: 'isolated' as const, invert: false }));
  return new BytePairModel({
    preTokenizer: new PreTokenizer(steps, true),
    merges: mergeTable(flatTexts(source.merges ?? []), ids),
    byteTokens: byteLevelTokens(ids),
    ...(pre.ignoreMerges && { wholePieces: ids }),
    unknown: unknownToken(vocabulary, source.unknown),
  });
}

/** Files may name a control token here; plain text must not become that. */
export function unknownToken(vocabulary: Vocabulary, id: TokenId | undefined): TokenId {
  return id !== undefined && id >= 0 && id < vocabulary.size && !vocabulary.isControl(id) ? id : -1;
}

export function byteLevelTokens(ids: TokenIds): Int32Array {
  return Int32Array.from(BYTE_TO_CODE, (code) => ids.get(String.fromCharCode(code)) ?? -1);
}

/** Rank is the place in the list. Rules whose parts or result are no tokens of plain text are left out. */
function mergeTable(merges: FlatTexts, ids: Spellings): MergeTable {
  const { bytes, ends } = merges;
  const table = new MergeTable(ends.length);
  for (let rank = 0; rank < ends.length; rank++) {
    const [from, to] = [startOf(merges, rank), ends[rank]!];
    const space = bytes.indexOf(0x20, from + 1);
    if (space < 0 || space >= to) continue;
    const left = ids.find(bytes, from, space);
    const right = left < 0 ? -1 : ids.find(bytes, space + 1, to);
    const merged = right < 0 ? -1 : ids.findJoined(bytes, from, space, space + 1, to);
    if (merged >= 0) table.add(left, right, rank, merged);
  }
  return table;
}

function sentencePiece(source: TokenizerSource, tokens: FlatTexts, vocabulary: Vocabulary): TextModel {
  const ids = new Map<string, TokenId>();
  for (let id = vocabulary.size - 1; id >= 0; id--) {
    // the lowest id wins where a spelling occurs twice
    if (isSpoken(vocabulary, id)) ids.set(textAt(tokens, id), id);
  }
  for (const [token, id] of ids) if (vocabulary.kind(id) === TokenKind.byte) ids.delete(token);
  return new SentencePieceModel({
    ids,
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
