// Byte-pair encoding over characters, as tokenizer.json writes SentencePiece vocabularies: pairs merge by rank, characters without
// a token fall back to bytes.
import { Merger } from './merger';
import type { MergeTable } from './merge-table';
import { windowEnd } from './sentence-piece';
import type { TokenId } from './vocabulary';

export interface CharacterPairOptions {
  /** Normal tokens by their spelling. */
  ids: ReadonlyMap<string, TokenId>;
  merges: MergeTable;
  /** Token of each byte, -1 where the vocabulary lacks it. */
  byteTokens: Int32Array;
  unknown: TokenId;
  /** Neighbouring unknown characters become one token. */
  fuseUnknown: boolean;
  /** The text as the vocabulary spells it. `beginning`: it stands at the very beginning of the prompt. */
  spell(text: string, beginning: boolean): string[];
}

const encoder = new TextEncoder();

export class CharacterPairModel {
  private readonly merger: Merger;

  constructor(private readonly options: CharacterPairOptions) {
    this.merger = new Merger(options.merges);
  }

  /** Appends the tokens of `text` to `out`. */
  encode(text: string, out: TokenId[]): void {
    if (text === '') return;
    for (const piece of this.options.spell(text, out.length === 0)) {
      for (let at = 0; at < piece.length;) {
        const end = windowEnd(piece, at);
        this.encodeWindow(piece.slice(at, end), out);
        at = end;
      }
    }
    this.merger.trim();
  }

  private encodeWindow(text: string, out: TokenId[]): void {
    const { merger, options } = this;
    merger.reserve(text.length * 3);
    let count = 0;
    for (const character of text) {
      const id = options.ids.get(character);
      if (id !== undefined) merger.ids[count++] = id;
      else count = this.fallBack(character, count);
    }
    count = merger.merge(count);
    for (let i = 0; i < count; i++) out.push(merger.ids[i]!);
  }

  private fallBack(character: string, count: number): number {
    const { byteTokens, unknown, fuseUnknown } = this.options;
    const bytes = encoder.encode(character);
    if (bytes.every((b) => byteTokens[b]! >= 0)) {
      for (const b of bytes) this.merger.ids[count++] = byteTokens[b]!;
    } else if (unknown >= 0 && !(fuseUnknown && count > 0 && this.merger.ids[count - 1] === unknown)) {
      this.merger.ids[count++] = unknown;
    }
    return count;
  }
}
