// The events of one turn, numbered, for any number of readers at any time: each reads from its cursor on and then waits for more.
// It keeps events in memory and knows neither HTTP nor the database.
import type { TurnEvent } from '../../contract/own';

type Text = Extract<TurnEvent, { kind: 'text' | 'reasoning' }>;

export class TurnLog {
  private readonly events: TurnEvent[] = [];
  private readonly waiting = new Set<() => void>();
  private ended = false;

  add(event: TurnEvent): void {
    if (this.ended) return;
    this.events.push(event);
    this.ended = event.kind === 'end';
    for (const wake of [...this.waiting]) wake();
  }

  get length(): number {
    return this.events.length;
  }

  /** From `cursor` on, with the number of each, until `end` or until `signal` fires. Whoever is behind gets the rest in one go. */
  async *read(cursor: number, signal: AbortSignal): AsyncGenerator<{ id: number; event: TurnEvent }, void> {
    let next = Math.max(0, cursor);
    while (!signal.aborted) {
      for (; next < this.events.length && !signal.aborted; next++) {
        const event = this.events[next];
        if (event) yield { id: next, event };
      }
      if (this.ended) return;
      await this.more(next, signal);
    }
  }

  private more(next: number, signal: AbortSignal): Promise<void> {
    if (next < this.events.length || this.ended) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}

/** Neighbouring deltas of one channel as one event. */
export function merged(parts: readonly Text[]): Text[] {
  return parts.reduce<Text[]>((all, part) => {
    const last = all.at(-1);
    if (last?.kind === part.kind) last.delta += part.delta;
    else if (part.delta !== '') all.push({ ...part });
    return all;
  }, []);
}
