// How long an engine elsewhere is waited for: for its first word, then for the next one. A few bytes now and then (a comment, a slow header)
// keep a connection open, but only for so long without anything said.

export interface Limits {
  /** Until the connection stands. */
  connectMs: number;
  /** Until the first word of the answer: a long prompt, or a model that is loaded there first. Also between words where only comments come. */
  firstMs: number;
  /** Without a byte after the first word. */
  gapMs: number;
  /** For a list of models. */
  listMs: number;
}

export const LIMITS: Limits = { connectMs: 10_000, firstMs: 600_000, gapMs: 120_000, listMs: 10_000 };

export class Patience {
  private readonly controller = new AbortController();
  private word: NodeJS.Timeout | undefined;
  private byte: NodeJS.Timeout | undefined;
  private spoken = false;

  constructor(private readonly limits: Pick<Limits, 'firstMs' | 'gapMs'>) {
    this.waitForWord();
  }

  /** Aborted when it has run out. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get isOver(): boolean {
    return this.controller.signal.aborted;
  }

  onBytes(): void {
    if (!this.spoken || this.isOver) return;
    clearTimeout(this.byte);
    this.byte = setTimeout(() => this.controller.abort(), this.limits.gapMs);
  }

  onWord(): void {
    this.spoken = true;
    this.waitForWord();
    this.onBytes();
  }

  end(): void {
    clearTimeout(this.word);
    clearTimeout(this.byte);
  }

  private waitForWord(): void {
    clearTimeout(this.word);
    if (!this.isOver) this.word = setTimeout(() => this.controller.abort(), this.limits.firstMs);
  }
}
