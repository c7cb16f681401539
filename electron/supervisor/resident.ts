// One model in memory: its host, on which terms it came, and when it was last used. It decides nothing: the broker weighs it as a tenant.
import type { Stats } from '../contract/runtime';
import type { Tenant } from './broker';
import type { Fallback } from './device-faults';
import type { ModelHost } from './model-host';
import { RAM, poolOf, type Part, type Terms } from './terms';
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
    /** Absent for a model elsewhere: it takes nothing of this machine. They change where its device failed. */
    public terms: Terms | undefined,
    /** Why it is not on the device that it was meant for. */
    public fallback?: Fallback,
  ) {}

  get busy(): boolean {
    return this.claims > 0 || this.host.running + this.host.waiting > 0;
  }

  get alive(): boolean {
    return this.host.state === 'ready' || this.host.state === 'restarting';
  }

  /** Whether there is a process that holds what was promised. */
  private get holds(): boolean {
    return this.host.state === 'ready';
  }

  get usable(): boolean {
    return !this.ending && this.alive;
  }

  /** Held of the machine's memory in fact, beside mapped weights. */
  get heldNow(): number {
    if (!this.terms || !this.holds) return 0;
    const { gpu, parts } = this.terms;
    // Drivers of devices without a memory of their own take it of the machine, and not in this process's name.
    const besides = gpu?.unified && gpu.type !== 'software' ? (this.stats?.deviceBytes ?? 0) : 0;
    return (this.stats?.rssAnonBytes ?? partIn(parts, RAM)?.heldBytes ?? 0) + besides;
  }

  /** Held of the memory of a graphics device. */
  heldOn(device: string): number {
    const part = this.holds ? this.terms?.parts.find(({ gpu }) => gpu?.id === device) : undefined;
    if (!this.terms || !part) return 0;
    const { division, kvGrant } = this.terms;
    const promised = part.weightBytes + part.heldBytes;
    // What is told of several devices is their sum.
    return division ? promised + kvGrant * part.kvShare : this.stats?.deviceBytes || promised;
  }

  /** Whether somebody who wishes this must have it loaded anew. Who names nothing is content. */
  differsFrom({ context, kvType, device }: LoadWish): boolean {
    if (!this.terms) return false;
    const otherContext = context ? Math.min(context, this.terms.plan.model.context) !== this.terms.context : false;
    const otherType = kvType === 'f16' || kvType === 'q8' ? kvType !== this.terms.kvType : false;
    const otherDevice = device && device !== 'auto' ? device !== (this.terms.gpu?.id ?? 'cpu') : false;
    return otherContext || otherType || otherDevice;
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

  /** As the broker weighs it, in the memory that is asked for; undefined where it takes nothing of that. */
  tenant(pool: string): Tenant | undefined {
    const part = this.terms && this.alive ? partIn(this.terms.parts, pool) : undefined;
    if (!this.terms || !part) return undefined;
    const { weightBytes, heldBytes, kvShare } = part;
    const [kvMin, kvMax, kvGrant] = [this.terms.kvMin, this.terms.kvMax, this.terms.kvGrant].map(
      (bytes) => bytes * kvShare,
    ) as [number, number, number];
    return {
      path: this.ref.path,
      weightBytes,
      heldBytes,
      kvMin,
      kvMax,
      kvGrant,
      busy: this.busy,
      lastUsedAt: this.lastUsedAt,
    };
  }

  /** Of what its conversations take, the part that is in this memory. */
  kvShareIn(pool: string): number {
    return (this.terms && partIn(this.terms.parts, pool)?.kvShare) ?? 0;
  }
}

const partIn = (parts: readonly Part[], pool: string): Part | undefined =>
  parts.find(({ gpu }) => poolOf(gpu) === pool);
