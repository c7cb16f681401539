// Who waits for which model: requests, and people who asked for the model as such. It starts nothing.
import { HearthError } from '../contract/errors';
import type { Fallback } from './device-faults';
import type { Resident } from './resident';
import { nextWanted, type Wanted } from './swap';
import type { Known } from './terms';
import type { LoadWish, ModelRef } from './types';

/** Somebody who waits for a model. Exactly one of the two is called, once; both must not throw. */
export interface Waiter {
  begin(resident: Resident): void;
  fail(error: HearthError): void;
}

export class Want implements Wanted {
  explicit = false;
  /** Wanted though nobody waits: what was there before a load that failed. */
  kept = false;
  wish: LoadWish = {};
  /** Why it goes elsewhere: a device that it was meant for has failed, or is not there. */
  fallback: Fallback | undefined;
  /** A device has failed at this load, so: what is said where it can go nowhere else. */
  cause: HearthError | undefined;
  readonly since = Date.now();
  readonly requests = new Set<Waiter>();
  readonly loaders = new Set<Waiter>();
  /** Known once the probe has looked. */
  known: Known | undefined;
  planning = false;
  /** Busy models that must end first. */
  waitsFor: Resident[] = [];
  /** Was in the foreground and went for this one. */
  displaced: Resident | undefined;

  constructor(readonly ref: ModelRef) {}

  /** More of the wish; another device has to be looked at anew. */
  ask(more: LoadWish): void {
    if (more.device !== undefined && more.device !== this.wish.device) {
      this.known = undefined;
      this.fallback = undefined;
      this.cause = undefined;
    }
    this.wish = { ...this.wish, ...more };
  }

  get waiters(): Waiter[] {
    return [...this.loaders, ...this.requests];
  }

  get isIdle(): boolean {
    return this.requests.size + this.loaders.size === 0 && !this.kept;
  }
}

export class Wants {
  private readonly byPath = new Map<string, Want>();

  get(path: string): Want | undefined {
    return this.byPath.get(path);
  }

  all(): Want[] {
    return [...this.byPath.values()];
  }

  has(want: Want): boolean {
    return this.byPath.get(want.ref.path) === want;
  }

  next(): Want | undefined {
    return nextWanted(this.byPath.values());
  }

  join(ref: ModelRef): Want {
    const want = this.byPath.get(ref.path) ?? new Want(ref);
    this.byPath.set(ref.path, want);
    return want;
  }

  /** Nobody is told. */
  remove(want: Want): void {
    if (this.has(want)) this.byPath.delete(want.ref.path);
  }
}

export function givenUp(ref: ModelRef): HearthError {
  return new HearthError('cancelled', `Loading ${ref.name} was given up.`);
}
