// How much one answer should have, for a connection that asks for one after the other. Pure: it is told how the last ones went.

/** How an answer went: until its head was here, and its bytes after that. */
export interface Went {
  headMs: number;
  bodyMs: number;
  bytes: number;
}

const MIN_BYTES = 128 * 1024;
/** An answer lasts so many times as long as it takes to ask for the next one. */
const TIMES = 3;

/**
 * All of an answer may be on its way when the process is killed, and is sent again then; between two answers a connection waits. So an
 * answer is as short as it can be without the waiting being felt: a quarter of the time, of which the other connections make use.
 */
export class Pace {
  /** Of the answer that came soonest: others may have waited for this computer. */
  private awayMs = Infinity;
  private bytesPerMs = 0;

  went({ headMs, bodyMs, bytes }: Went): void {
    this.awayMs = Math.min(this.awayMs, headMs);
    this.bytesPerMs = bytes / Math.max(1, bodyMs);
  }

  /** Before the first answer: the least. */
  get answerBytes(): number {
    return this.bytesPerMs === 0 ? MIN_BYTES : Math.max(MIN_BYTES, TIMES * this.awayMs * this.bytesPerMs);
  }
}
