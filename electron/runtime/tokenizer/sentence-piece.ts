// SentencePiece's BPE: pairs merge by the score of the token they make, highest first, leftmost first among equals;
// characters without a token fall back to bytes.
import type { TokenId } from './vocabulary';

const SPACE_MARK = '\u2581';
/** The longest stretch worked on at once, in characters; cut before a space mark where there is one. */
const WINDOW = 1 << 14;

export interface SentencePieceOptions {
  /** Normal and user-defined tokens by their spelling in the file. */
  ids: ReadonlyMap<string, TokenId>;
  scores: ArrayLike<number>;
  byteTokens: Int32Array;
  unknown: TokenId;
  addSpacePrefix: boolean;
}

const encoder = new TextEncoder();

export class SentencePieceModel {
  private readonly longest: number;

  constructor(private readonly options: SentencePieceOptions) {
    let longest = 1;
    for (const token of options.ids.keys()) longest = Math.max(longest, token.length);
    this.longest = longest;
  }

  /** Appends the tokens of `text` to `out`. `first`: a space is put before it, where the model wants one. */
  encode(text: string, out: TokenId[], first: boolean): void {
    if (text === '') return;
    const marked = (first && this.options.addSpacePrefix ? ' ' + text : text).replaceAll(' ', SPACE_MARK);
    for (let at = 0; at < marked.length;) {
      const end = windowEnd(marked, at);
      this.encodeWindow(marked.slice(at, end), out);
      at = end;
    }
  }

  private encodeWindow(text: string, out: TokenId[]): void {
    const state = new Symbols(text, this.options.ids, this.options.scores, this.longest);
    state.mergeAll();
    state.each((symbol) => this.emit(symbol, out));
  }

  private emit(symbol: string, out: TokenId[]): void {
    const { ids, byteTokens, unknown } = this.options;
    const id = ids.get(symbol);
    if (id !== undefined) {
      out.push(id);
      return;
    }
    const bytes = encoder.encode(symbol);
    if (bytes.every((b) => byteTokens[b]! >= 0)) for (const b of bytes) out.push(byteTokens[b]!);
    else if (unknown >= 0) out.push(unknown);
  }
}

/** Where to cut long text: before a space mark, if there is one. */
export function windowEnd(text: string, start: number): number {
  const limit = start + WINDOW;
  if (limit >= text.length) return text.length;
  for (let at = limit; at > start + WINDOW / 2; at--) {
    if (text[at] === SPACE_MARK && text[at - 1] !== SPACE_MARK) return at;
  }
  const code = text.charCodeAt(limit);
  return code >= 0xdc00 && code < 0xe000 ? limit - 1 : limit;
}

interface Candidate {
  score: number;
  left: number;
  /** Characters that both symbols had when the candidate was made; another length means that it is stale. */
  length: number;
}

/** Symbols as a linked list over the characters of the text. */
class Symbols {
  private readonly length: Int32Array;
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly heap: Candidate[] = [];

  constructor(
    private readonly text: string,
    private readonly ids: ReadonlyMap<string, TokenId>,
    private readonly scores: ArrayLike<number>,
    private readonly longest: number,
  ) {
    const n = text.length;
    this.length = new Int32Array(n);
    this.next = new Int32Array(n + 1);
    this.previous = new Int32Array(n + 1);
    let before = -1;
    for (let at = 0; at < n;) {
      const size = text.codePointAt(at)! > 0xffff ? 2 : 1;
      this.length[at] = size;
      this.next[at] = at + size;
      this.previous[at] = before;
      before = at;
      at += size;
    }
    for (let at = 0; at < n; at = this.next[at]!) this.consider(at);
  }

  mergeAll(): void {
    for (let best = this.pop(); best; best = this.pop()) {
      const { left, length } = best;
      const right = left + this.length[left]!;
      if (this.length[left] === 0 || right >= this.text.length) continue;
      if (this.length[left]! + this.length[right]! !== length) continue;
      this.length[left] = length;
      this.length[right] = 0;
      const after = left + length;
      this.next[left] = after;
      if (after < this.text.length) this.previous[after] = left;
      this.consider(left);
      if (this.previous[left]! >= 0) this.consider(this.previous[left]!);
    }
  }

  each(visit: (symbol: string) => void): void {
    for (let at = 0; at < this.text.length; at += this.length[at]!) visit(this.text.slice(at, at + this.length[at]!));
  }

  private consider(left: number): void {
    const right = left + this.length[left]!;
    if (right >= this.text.length) return;
    const length = this.length[left]! + this.length[right]!;
    if (length > this.longest) return;
    const id = this.ids.get(this.text.slice(left, left + length));
    if (id !== undefined) this.push({ score: this.scores[id] ?? 0, left, length });
  }

  private push(candidate: Candidate): void {
    const { heap } = this;
    let at = heap.push(candidate) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(candidate, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = candidate;
  }

  private pop(): Candidate | undefined {
    const { heap } = this;
    const top = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || !last) return top;
    let at = 0;
    for (let child = 1; child < heap.length; child = at * 2 + 1) {
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}

function before(a: Candidate, b: Candidate): boolean {
  return a.score > b.score || (a.score === b.score && a.left < b.left);
}
