// How often, and after how long, something that failed is tried again without anybody's click. Pure: it is told of failures and of progress.

/**
 * `away`: no server was reached. `broken`: one was, and its answer was cut or useless. `busy`: it asks to come back later.
 * `final`: trying again cannot help.
 */
export type FailureKind = 'away' | 'broken' | 'busy' | 'final';

export interface Failure {
  kind: FailureKind;
  /** What a busy server asks for. */
  afterMs?: number;
}

/** Useless answers in a row, after which a person has to say that it goes on. */
export const MAX_TRIES = 3;
const MAX_BUSY = 10;
/** As long as a night of sleep: a computer that wakes up goes on. */
const AWAY_MS = 12 * 3_600_000;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const LONGEST_BUSY_MS = 600_000;

const backOff = (failures: number) => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));

export class Attempts {
  /** Rises with every failure that counts: one that began before the last one is another face of it. */
  private currentRound = 0;
  private broken = 0;
  private busy = 0;
  private away = 0;
  private awayMs = 0;
  private waitMs = 0;

  constructor(private readonly scale = 1) {}

  get round(): number {
    return this.currentRound;
  }

  /** Bytes that had not been there before. */
  progress(): void {
    this.broken = 0;
    this.busy = 0;
    this.away = 0;
    this.awayMs = 0;
  }

  /** How long to wait, or undefined where it is over. `round`: when the attempt that failed began. */
  failed({ kind, afterMs }: Failure, round: number): number | undefined {
    if (kind === 'final') return undefined;
    if (round < this.currentRound) return this.waitMs;
    this.currentRound += 1;
    const wait = this.next(kind, afterMs);
    this.waitMs = (wait ?? 0) * this.scale;
    return wait === undefined ? undefined : this.waitMs;
  }

  private next(kind: Exclude<FailureKind, 'final'>, afterMs: number | undefined): number | undefined {
    switch (kind) {
      case 'broken':
        this.broken += 1;
        return this.broken >= MAX_TRIES ? undefined : backOff(this.broken);
      case 'busy':
        this.busy += 1;
        if (this.busy > MAX_BUSY) return undefined;
        return Math.min(LONGEST_BUSY_MS, Math.max(FIRST_WAIT_MS, afterMs ?? backOff(this.busy)));
      case 'away': {
        this.away += 1;
        const wait = backOff(this.away);
        this.awayMs += wait;
        return this.awayMs > AWAY_MS ? undefined : wait;
      }
    }
  }
}
