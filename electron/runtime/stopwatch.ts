// When the parts of one generation happened, and the numbers that follow. It reads the clock that it is given and nothing else.
import type { Timings } from '../contract/chat';

export class Stopwatch {
  private readonly asked: number;
  private started: number | undefined;
  private prefilled: number | undefined;
  private first: number | undefined;
  private last: number | undefined;
  private tokens = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.asked = now();
  }

  /** Work on the prompt has begun. */
  start(): void {
    this.started ??= this.now();
  }

  /** `ago`: milliseconds since it happened; here and below. */
  prefillDone(ago = 0): void {
    this.prefilled ??= this.now() - ago;
  }

  token(ago = 0): void {
    this.last = this.now() - ago;
    this.first ??= this.last;
    // The step that ends the prefill also samples: whichever is told first.
    this.prefilled ??= this.last;
    this.tokens += 1;
  }

  /** `promptTokens`: those that were really read. */
  timings(promptTokens: number): Timings {
    const end = this.now();
    const started = this.started ?? end;
    const prefilled = this.prefilled ?? this.first ?? started;
    const first = this.first ?? end;
    const prefillMs = prefilled - started;
    const decodeMs = (this.last ?? first) - first;
    return {
      queueMs: started - this.asked,
      prefillMs,
      ttftMs: first - started,
      decodeMs,
      prefillTps: perSecond(promptTokens, prefillMs),
      // The first token comes with the prefill.
      decodeTps: perSecond(this.tokens - 1, decodeMs),
    };
  }
}

function perSecond(count: number, ms: number): number {
  return count > 0 && ms > 0 ? (count * 1000) / ms : 0;
}
