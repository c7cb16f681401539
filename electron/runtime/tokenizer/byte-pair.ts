// Byte-pair encoding of plain text: pieces of the pre-tokenizer, merged by rank, with a bounded memory of pieces seen.
// It never yields a control token, since no rule and no whole-piece look-up leads to one.
import { BYTE_TO_CODE } from './byte-level';
import { Merger } from './merger';
import type { MergeTable } from './merge-table';
import type { PreTokenizer } from './pre-tokenizer';
import type { TokenIds } from './spellings';
import type { TokenId } from './vocabulary';

/** Pieces remembered, in each of two generations. */
const CACHE_PIECES = 1 << 15;
/** Longer pieces are not remembered. */
const CACHE_LENGTH = 48;

export interface BytePairOptions {
  preTokenizer: PreTokenizer;
  merges: MergeTable;
  /** Token of each byte, -1 where the vocabulary lacks it. */
  byteTokens: Int32Array;
  /** Pieces that are tokens themselves, spelt in the byte alphabet; absent: merges decide alone. */
  wholePieces?: TokenIds;
  /** Stands for bytes without a token; -1: they are left out. */
  unknown: TokenId;
}

const encoder = new TextEncoder();

export class BytePairModel {
  private readonly merger: Merger;
  private young = new Map<string, TokenId | TokenId[]>();
  private old = new Map<string, TokenId | TokenId[]>();
  private scratch = new Uint8Array(1024);

  constructor(private readonly options: BytePairOptions) {
    this.merger = new Merger(options.merges);
  }

  /** Appends the tokens of `text` to `out`. */
  encode(text: string, out: TokenId[]): void {
    this.options.preTokenizer.split(text, (piece) => this.encodePiece(piece, out));
    this.merger.trim();
  }

  private encodePiece(piece: string, out: TokenId[]): void {
    if (piece.length > CACHE_LENGTH) {
      const count = this.mergePiece(piece);
      for (let i = 0; i < count; i++) out.push(this.merger.ids[i]!);
      return;
    }
    let known = this.young.get(piece);
    if (known === undefined) {
      known = this.old.get(piece);
      if (known === undefined) {
        const count = this.mergePiece(piece);
        known = count === 1 ? this.merger.ids[0]! : Array.from(this.merger.ids.subarray(0, count));
      }
      this.remember(piece, known);
    }
    if (typeof known === 'number') out.push(known);
    else for (const id of known) out.push(id);
  }

  private remember(piece: string, tokens: TokenId | TokenId[]): void {
    if (this.young.size >= CACHE_PIECES) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(piece, tokens);
  }

  /** Leaves the tokens of one piece in merger.ids and returns how many. */
  private mergePiece(piece: string): number {
    const { merger, options } = this;
    const length = this.toBytes(piece);
    merger.reserve(length);
    const whole = options.wholePieces && length <= 256 ? options.wholePieces.get(this.alphabet(length)) : undefined;
    if (whole !== undefined) {
      merger.ids[0] = whole;
      return 1;
    }
    let count = 0;
    for (let i = 0; i < length; i++) {
      const id = options.byteTokens[this.scratch[i]!]!;
      if (id >= 0) merger.ids[count++] = id;
      else if (options.unknown >= 0) merger.ids[count++] = options.unknown;
    }
    return merger.merge(count);
  }

  /** UTF-8 of the piece in scratch (lone surrogates as U+FFFD); returns the length. */
  private toBytes(piece: string): number {
    if (this.scratch.length < piece.length * 3) this.scratch = new Uint8Array(piece.length * 3);
    const { scratch } = this;
    for (let i = 0; i < piece.length; i++) {
      const code = piece.charCodeAt(i);
      if (code >= 0x80) return encoder.encodeInto(piece, scratch).written;
      scratch[i] = code;
    }
    return piece.length;
  }

  private alphabet(length: number): string {
    const { scratch } = this;
    let text = '';
    for (let i = 0; i < length; i++) text += String.fromCharCode(BYTE_TO_CODE[scratch[i]!]!);
    return text;
  }
}
