// One model in memory: its host, on which terms it came, and when it was last used. It decides nothing: the broker weighs it as a tenant.
import type { Stats } from '../contract/runtime';
import type { Tenant } from './broker';
import type { ModelHost } from './model-host';
import type { Terms } from './terms';
import type { LoadWish, ModelRef } from './types';

export class Resident {
  lastUsedAt = Date.now();
  /** Going: nobody is let in any more. */
  ending: Promise<void> | undefined;
  stats: Stats | undefined;
  /** Calls under way that are no answers: a measurement, a count. */
  private claims = 0;

  constructor(
    readonly ref: ModelRef,
    readonly wish: LoadWish,
    readonly host: ModelHost,
    /** Absent for a model elsewhere: it takes nothing of this machine. */
    readonly terms: Terms | undefined,
  ) {}

  get busy(): boolean {
    return this.claims > 0 || this.host.running + this.host.waiting > 0;
  }

  get alive(): boolean {
    return this.host.state === 'ready' || this.host.state === 'restarting';
  }

  get usable(): boolean {
    return !this.ending && this.alive;
  }

  /** Held in fact, beside the mapped weights. */
  get heldNow(): number {
    return this.terms && this.alive ? (this.stats?.rssAnonBytes ?? this.terms.heldBytes) : 0;
  }

  /** Whether somebody who wishes this must have it loaded anew. Who names nothing is content. */
  differsFrom({ context, kvType }: LoadWish): boolean {
    if (!this.terms) return false;
    const otherContext = context ? Math.min(context, this.terms.plan.model.context) !== this.terms.context : false;
    const otherType = kvType === 'f16' || kvType === 'q8' ? kvType !== this.terms.kvType : false;
    return otherContext || otherType;
  }

  /** Until the work has ended it counts as busy. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.claims += 1;
    try {
      return await work;
    } finally {
      this.claims -= 1;
      this.lastUsedAt = Date.now();
    }
  }

  holding(effect: () => void): void {
    this.claims += 1;
    try {
      effect();
    } finally {
      this.claims -= 1;
    }
  }

  grant(kvBytes: number): void {
    if (!this.terms || kvBytes === this.terms.kvGrant) return;
    this.terms.kvGrant = kvBytes;
    this.host.grant(kvBytes);
  }

  tenant(): Tenant | undefined {
    if (!this.terms || !this.alive) return undefined;
    const { plan, heldBytes, kvMin, kvMax, kvGrant } = this.terms;
    const { busy, lastUsedAt } = this;
    return { path: this.ref.path, weightBytes: plan.weightBytes, heldBytes, kvMin, kvMax, kvGrant, busy, lastUsedAt };
  }
}
