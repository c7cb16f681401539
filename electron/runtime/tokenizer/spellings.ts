// Token ids by spelling: an open hash table over the bytes of all tokens, without a string or an object per token.
// It knows the spelling of the file and no text of users.
import { startOf, type FlatTexts } from './flat-texts';
import type { TokenId } from './vocabulary';

/** What of a Map from spelling to id is needed where texts are encoded. */
export interface TokenIds {
  get(spelling: string): TokenId | undefined;
}

const EMPTY = -1;
const SEED = 0x811c9dc5;
const encoder = new TextEncoder();

export class Spellings implements TokenIds {
  /** Cells of (hash, id). */
  private readonly cells: Int32Array;
  private readonly mask: number;

  /** Holds the tokens that `spoken` says; the lowest id wins where a spelling occurs twice. */
  constructor(
    private readonly texts: FlatTexts,
    spoken: (id: TokenId) => boolean,
  ) {
    let cells = 16;
    while (cells < texts.ends.length * 2) cells *= 2;
    this.cells = new Int32Array(cells * 2).fill(EMPTY);
    this.mask = cells - 1;
    for (let id = 0; id < texts.ends.length; id++) if (spoken(id)) this.add(id);
  }

  get(spelling: string): TokenId | undefined {
    const bytes = encoder.encode(spelling);
    const id = this.find(bytes, 0, bytes.length);
    return id < 0 ? undefined : id;
  }

  /** The token that is spelt bytes[from, to), or -1. */
  find(bytes: Uint8Array, from: number, to: number): TokenId {
    return this.cells[this.probe(mix(fold(SEED, bytes, from, to)), bytes, from, to, to, to) + 1]!;
  }

  /** The token that is spelt bytes[from, middle) and then bytes[next, to), or -1. */
  findJoined(bytes: Uint8Array, from: number, middle: number, next: number, to: number): TokenId {
    const joined = mix(fold(fold(SEED, bytes, from, middle), bytes, next, to));
    return this.cells[this.probe(joined, bytes, from, middle, next, to) + 1]!;
  }

  private add(id: TokenId): void {
    const { bytes, ends } = this.texts;
    const [from, to] = [startOf(this.texts, id), ends[id]!];
    const hashed = mix(fold(SEED, bytes, from, to));
    const cell = this.probe(hashed, bytes, from, to, to, to);
    if (this.cells[cell + 1] !== EMPTY) return;
    this.cells[cell] = hashed;
    this.cells[cell + 1] = id;
  }

  /** The cell of this spelling, or the empty one where it would be. */
  private probe(hashed: number, bytes: Uint8Array, from: number, middle: number, next: number, to: number): number {
    const { cells, mask } = this;
    for (let cell = hashed & mask; ; cell = (cell + 1) & mask) {
      const id = cells[cell * 2 + 1]!;
      if (id === EMPTY) return cell * 2;
      if (cells[cell * 2] === hashed && this.isSpelt(id, bytes, from, middle, next, to)) return cell * 2;
    }
  }

  private isSpelt(id: TokenId, bytes: Uint8Array, from: number, middle: number, next: number, to: number): boolean {
    const own = this.texts.bytes;
    let at = startOf(this.texts, id);
    if (this.texts.ends[id]! - at !== middle - from + (to - next)) return false;
    for (let i = from; i < middle; i++) if (own[at++] !== bytes[i]) return false;
    for (let i = next; i < to; i++) if (own[at++] !== bytes[i]) return false;
    return true;
  }
}

/** Goes on from `state`, so that joined texts come to the state of the whole. */
function fold(state: number, bytes: Uint8Array, from: number, to: number): number {
  let folded = state;
  for (let i = from; i < to; i++) folded = Math.imul(folded ^ bytes[i]!, 0x01000193);
  return folded;
}

/** The high bits take part in the choice of a cell. */
function mix(state: number): number {
  return state ^ (state >>> 15);
}
