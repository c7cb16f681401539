// Byte-pair merging of one piece: always the rule of lowest rank, leftmost first, until none applies.
// Short pieces are scanned, long ones go through a heap, so that hostile text stays near-linear.
import type { MergeTable } from './merge-table';

/** Below this many symbols scanning for the best pair is faster than a heap. */
const SCAN_LIMIT = 40;
/** Heap keys are rank * POSITIONS + position; both fit a double's 53 bits. */
const POSITIONS = 2 ** 28;
const NO_RULE = 0x7fffffff;

export class Merger {
  /** The symbols of the piece: the caller fills ids[0..n), merge() leaves the result at the front. */
  ids = new Int32Array(256);
  private rules = new Int32Array(256);
  private next = new Int32Array(0);
  private previous = new Int32Array(0);
  private heap = new Float64Array(0);
  private heapSize = 0;

  constructor(private readonly table: MergeTable) {}

  /** Makes room for n symbols. Contents of `ids` are lost. */
  reserve(n: number): void {
    if (n <= this.ids.length) return;
    const size = 2 ** Math.ceil(Math.log2(n));
    this.ids = new Int32Array(size);
    this.rules = new Int32Array(size);
  }

  /** Gives back large buffers after an unusual piece. */
  trim(): void {
    if (this.ids.length <= 1 << 16) return;
    this.ids = new Int32Array(256);
    this.rules = new Int32Array(256);
    this.next = this.previous = new Int32Array(0);
    this.heap = new Float64Array(0);
  }

  /** Merges ids[0..n); returns the number of tokens left, at ids[0..). */
  merge(n: number): number {
    if (n < 2) return n;
    return n <= SCAN_LIMIT ? this.mergeByScan(n) : this.mergeByHeap(n);
  }

  private mergeByScan(n: number): number {
    const { ids, rules, table } = this;
    for (let i = 0; i + 1 < n; i++) rules[i] = table.find(ids[i]!, ids[i + 1]!);
    while (n > 1) {
      let best = NO_RULE;
      let at = -1;
      for (let i = 0; i + 1 < n; i++) {
        const rule = rules[i]!;
        if (rule < 0) continue;
        const rank = table.rank(rule);
        if (rank < best) {
          best = rank;
          at = i;
        }
      }
      if (at < 0) break;
      ids[at] = table.merged(rules[at]!);
      n--;
      ids.copyWithin(at + 1, at + 2, n + 1);
      rules.copyWithin(at + 1, at + 2, n);
      if (at + 1 < n) rules[at] = table.find(ids[at]!, ids[at + 1]!);
      if (at > 0) rules[at - 1] = table.find(ids[at - 1]!, ids[at]!);
    }
    return n;
  }

  private mergeByHeap(n: number): number {
    this.link(n);
    const { ids, rules, table, next, previous } = this;
    while (this.heapSize > 0) {
      const key = this.pop();
      const rank = Math.floor(key / POSITIONS);
      const at = key - rank * POSITIONS;
      const rule = rules[at]!;
      if (rule < 0 || table.rank(rule) !== rank) continue; // merged away or changed since it was pushed
      const right = next[at]!;
      const after = next[right]!;
      ids[at] = table.merged(rule);
      rules[right] = -1;
      next[at] = after;
      if (after < n) previous[after] = at;
      this.refresh(at, after, n);
      if (at > 0) this.refresh(previous[at]!, at, n);
    }
    let count = 0;
    for (let at = 0; at < n; at = next[at]!) ids[count++] = ids[at]!;
    return count;
  }

  private refresh(left: number, right: number, n: number): void {
    const rule = right < n ? this.table.find(this.ids[left]!, this.ids[right]!) : -1;
    this.rules[left] = rule;
    if (rule >= 0) this.push(this.table.rank(rule) * POSITIONS + left);
  }

  private link(n: number): void {
    if (this.next.length < n) {
      this.next = new Int32Array(this.ids.length);
      this.previous = new Int32Array(this.ids.length);
    }
    // every merge removes a pair and makes at most two
    if (this.heap.length < 3 * n) this.heap = new Float64Array(3 * this.ids.length);
    const { ids, rules, table, heap } = this;
    let size = 0;
    for (let i = 0; i < n; i++) {
      this.next[i] = i + 1;
      this.previous[i] = i - 1;
      const rule = i + 1 < n ? table.find(ids[i]!, ids[i + 1]!) : -1;
      rules[i] = rule;
      if (rule >= 0) heap[size++] = table.rank(rule) * POSITIONS + i;
    }
    this.heapSize = size;
    for (let i = (size >> 2) + 1; i >= 0; i--) if (i < size) this.sink(i, heap[i]!);
  }

  private push(key: number): void {
    const { heap } = this;
    let at = this.heapSize++;
    while (at > 0) {
      const parent = (at - 1) >> 2;
      if (heap[parent]! <= key) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = key;
  }

  private pop(): number {
    const top = this.heap[0]!;
    const last = this.heap[--this.heapSize]!;
    if (this.heapSize > 0) this.sink(0, last);
    return top;
  }

  /** Puts `key` at `at` or below, in a heap of four children per node. */
  private sink(at: number, key: number): void {
    const { heap, heapSize } = this;
    for (;;) {
      const first = at * 4 + 1;
      if (first >= heapSize) break;
      let child = first;
      const end = Math.min(first + 4, heapSize);
      for (let i = first + 1; i < end; i++) if (heap[i]! < heap[child]!) child = i;
      if (heap[child]! >= key) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = key;
  }
}
