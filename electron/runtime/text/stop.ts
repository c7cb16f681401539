// Stop strings in visible text, wherever the tokens cut them. It holds back only what may still become one of them.

export interface StopResult {
  /** Text that is safe to show. */
  text: string;
  /** The stop string that was met; nothing of it or after it is in `text`. */
  stopped: string | undefined;
  /** What came after the stop string in the same delta. */
  rest: string;
}

export class StopMatcher {
  private held = '';
  private done: string | undefined;
  private readonly stops: readonly string[];

  /** Empty strings are ignored. */
  constructor(stops: readonly string[]) {
    this.stops = stops.filter((s) => s !== '');
  }

  /** The earliest stop wins; of those that begin at the same place, the longest. */
  push(delta: string): StopResult {
    if (this.done !== undefined) return { text: '', stopped: this.done, rest: delta };
    if (this.stops.length === 0) return { text: delta, stopped: undefined, rest: '' };
    const text = this.held + delta;
    const hit = this.find(text);
    if (hit) {
      this.held = '';
      this.done = hit.stop;
      return { text: text.slice(0, hit.at), stopped: hit.stop, rest: text.slice(hit.at + hit.stop.length) };
    }
    const keep = this.stops.reduce((most, stop) => Math.max(most, overlap(text, stop)), 0);
    this.held = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stopped: undefined, rest: '' };
  }

  /** The answer has ended: what was held is text after all. */
  finish(): string {
    const rest = this.held;
    this.held = '';
    return this.done === undefined ? rest : '';
  }

  get stopped(): string | undefined {
    return this.done;
  }

  private find(text: string): { at: number; stop: string } | undefined {
    let best: { at: number; stop: string } | undefined;
    for (const stop of this.stops) {
      const at = text.indexOf(stop);
      if (at < 0) continue;
      if (!best || at < best.at || (at === best.at && stop.length > best.stop.length)) best = { at, stop };
    }
    return best;
  }
}

/** Length of the longest proper prefix of `stop` that `text` ends with. */
function overlap(text: string, stop: string): number {
  for (let n = Math.min(text.length, stop.length - 1); n > 0; n--) {
    if (text.endsWith(stop.slice(0, n))) return n;
  }
  return 0;
}
