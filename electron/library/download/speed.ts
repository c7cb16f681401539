// Bytes per second over the last few seconds. Pure, given the clock.

const WINDOW_MS = 5000;
/** Pieces that come within so long are one entry. */
const STEP_MS = 200;

export class Speed {
  private readonly samples: { at: number; bytes: number }[] = [];

  add(bytes: number, now: number): void {
    const last = this.samples.at(-1);
    if (last && now - last.at < STEP_MS) last.bytes += bytes;
    else this.samples.push({ at: now, bytes });
    this.forget(now);
  }

  private forget(now: number): void {
    while (this.samples[0] && now - this.samples[0].at > WINDOW_MS) this.samples.shift();
  }

  perSecond(now: number): number {
    this.forget(now);
    const first = this.samples[0];
    if (!first) return 0;
    const bytes = this.samples.reduce((sum, sample) => sum + sample.bytes, 0);
    return Math.round(bytes / (Math.max(1000, now - first.at) / 1000));
  }

  clear(): void {
    this.samples.length = 0;
  }
}
