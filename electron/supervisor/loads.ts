// The loads under way: one at a time, shared by everybody who wants the same model, given up when nobody wants it any more.
// It does not know what a load does.
import { HearthError } from '../contract/errors';
import type { ModelRef } from './types';

export interface Load<H> {
  readonly ref: ModelRef;
  /** Somebody asked for this model as such (not only a request that needs it). */
  explicit: boolean;
  /** Requests that wait for it. */
  waiters: number;
  readonly signal: AbortSignal;
  readonly host: Promise<H>;
}

interface OwnLoad<H> extends Load<H> {
  readonly controller: AbortController;
}

export class Loads<H> {
  private readonly loads: OwnLoad<H>[] = [];
  private chain: Promise<unknown> = Promise.resolve();

  constructor(private readonly run: (ref: ModelRef, signal: AbortSignal) => Promise<H>) {}

  /** The load of this model that is under way, or a new one behind the others. */
  join(ref: ModelRef, explicit: boolean): Load<H> {
    const existing = this.loads.find((load) => load.ref.path === ref.path && !load.signal.aborted);
    if (existing) {
      existing.explicit ||= explicit;
      return existing;
    }
    const controller = new AbortController();
    const turn = this.chain.then(() => {
      if (controller.signal.aborted) throw givenUp(ref);
      return this.run(ref, controller.signal);
    });
    const load: OwnLoad<H> = { ref, explicit, waiters: 0, controller, signal: controller.signal, host: turn };
    this.loads.push(load);
    this.chain = turn.catch(() => undefined).finally(() => this.loads.splice(this.loads.indexOf(load), 1));
    return load;
  }

  /** Gives up every load that no request waits for, except that of `path`. */
  supersede(path: string): void {
    for (const load of this.loads) if (load.waiters === 0 && load.ref.path !== path) load.controller.abort();
  }

  /** A request that waited is gone; a load that only it wanted is given up. */
  leave(load: Load<H>): void {
    load.waiters -= 1;
    if (load.waiters === 0 && !load.explicit) this.loads.find((own) => own === load)?.controller.abort();
  }

  giveUpAll(): void {
    for (const load of this.loads) load.controller.abort();
  }
}

export function givenUp(ref: ModelRef): HearthError {
  return new HearthError('cancelled', `Loading ${ref.name} was given up.`);
}
