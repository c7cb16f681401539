// Numbers of the last while: percentiles over the latest samples, and a rate over the latest seconds. Bounded memory, no clock of its own.

/** Percentiles of the latest `capacity` samples. */
export class Percentiles {
  private readonly samples: number[] = [];
  private next = 0;

  constructor(private readonly capacity = 1024) {}

  add(value: number): void {
    if (!Number.isFinite(value)) return;
    this.samples[this.next] = value;
    this.next = (this.next + 1) % this.capacity;
  }

  get count(): number {
    return this.samples.length;
  }

  /** Nearest rank; undefined without samples. */
  at(fractions: readonly number[]): (number | undefined)[] {
    const sorted = [...this.samples].sort((a, b) => a - b);
    return fractions.map((fraction) => sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)]);
  }
}

/** Things per second over the last `windowMs`. */
export class Rate {
  private readonly events: { at: number; count: number }[] = [];

  constructor(private readonly windowMs = 5_000) {}

  add(count: number, now: number): void {
    this.events.push({ at: now, count });
    this.forget(now);
  }

  perSecond(now: number): number {
    this.forget(now);
    const first = this.events[0];
    if (!first) return 0;
    const total = this.events.reduce((sum, event) => sum + event.count, 0);
    // A window that has just begun is as long as it is, but not so short that one event looks like a flood.
    return (total * 1000) / Math.min(this.windowMs, Math.max(1000, now - first.at));
  }

  private forget(now: number): void {
    while (this.events[0] && now - this.events[0].at > this.windowMs) this.events.shift();
  }
}
