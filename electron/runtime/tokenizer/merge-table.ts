// Merge rules as one flat hash table: (left id, right id) -> (rank, merged id). No object per rule.
// It does not apply the rules; merger.ts does.

const EMPTY = -1;

export class MergeTable {
  private readonly slots: Int32Array;
  private readonly mask: number;
  size = 0;

  /** `capacity`: the number of rules at most. */
  constructor(capacity: number) {
    let cells = 16;
    while (cells < capacity * 2) cells *= 2;
    this.slots = new Int32Array(cells * 4).fill(EMPTY);
    this.mask = cells - 1;
  }

  /** The first rule for a pair wins; later ones are ignored, as their rank is worse. */
  add(left: number, right: number, rank: number, merged: number): void {
    const at = this.probe(left, right);
    if (this.slots[at] !== EMPTY) return;
    if (this.size * 2 > this.mask) throw new RangeError('merge table is full');
    this.slots[at] = left;
    this.slots[at + 1] = right;
    this.slots[at + 2] = rank;
    this.slots[at + 3] = merged;
    this.size++;
  }

  /** A handle for `rank` and `merged`, or -1 where the pair does not merge. */
  find(left: number, right: number): number {
    const at = this.probe(left, right);
    return this.slots[at] === EMPTY ? -1 : at;
  }

  rank(handle: number): number {
    return this.slots[handle + 2]!;
  }

  merged(handle: number): number {
    return this.slots[handle + 3]!;
  }

  private probe(left: number, right: number): number {
    const { slots, mask } = this;
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca77);
    hash ^= hash >>> 15;
    for (let cell = hash & mask; ; cell = (cell + 1) & mask) {
      const at = cell * 4;
      const key = slots[at]!;
      if (key === EMPTY || (key === left && slots[at + 1] === right)) return at;
    }
  }
}
