// What becomes of a model whose device failed: the devices that it keeps away from for a while, and how it goes on without them, on other
// devices, else on the processor. It starts nothing and grants nothing; when a device is left, policy.ts says.
import { HearthError } from '../contract/errors';
import type { LogLevel, MemoryPlan } from '../contract/runtime';
import type { Grant } from './broker';
import {
  blamed,
  fallbackOf,
  gpusOf,
  outAt,
  withFaults,
  type DeviceFailure,
  type DeviceFault,
  type Fallback,
} from './device-faults';
import type { Going } from './device-choice';
import type { SeenGpu } from './gpus';
import type { Pools } from './pools';
import type { Resident } from './resident';
import type { HostLoad, Terms, Where } from './terms';
import type { LoadWish, ModelRef } from './types';

export interface FailoverOptions {
  /** Where it would go without these devices. Throws HearthError. */
  choose(plan: MemoryPlan, wish: LoadWish, out: ReadonlySet<string>): Promise<Going>;
  /** The devices as they are now. */
  look(): Promise<readonly SeenGpu[]>;
  /** Whether the processor may have it. */
  mayLeaveDevice(): boolean;
  slots: number;
  log(level: LogLevel, text: string): void;
}

/** How a model goes on elsewhere. */
export interface Move {
  terms: Terms;
  shrink: Grant[];
  fallback: Fallback | undefined;
}

export class Failover {
  private readonly faults = new Map<string, DeviceFault[]>();

  constructor(
    private readonly pools: Pools,
    private readonly options: FailoverOptions,
  ) {}

  /** The devices that this model keeps away from now. */
  out({ path }: ModelRef): ReadonlySet<string> {
    return new Set(this.outNow(path).map(({ device }) => device.id));
  }

  /** Why it keeps away from these. */
  fallback({ path }: ModelRef, devices: Iterable<string>): Fallback | undefined {
    const ids = new Set(devices);
    return fallbackOf(this.outNow(path).filter(({ device }) => ids.has(device.id)));
  }

  /** Somebody asks for this model as such: every device has its chance again. */
  forget({ path }: ModelRef): void {
    this.faults.delete(path);
  }

  /** From now on the model keeps away from the devices whose failure this was. */
  async blame({ name, path }: ModelRef, where: Where, failure: DeviceFailure): Promise<void> {
    const devices = blamed(where, failure, await this.options.look());
    const at = Date.now();
    const faults = devices.map((device): DeviceFault => ({ device, code: failure.code, at }));
    this.faults.set(path, withFaults(this.faults.get(path) ?? [], faults, at));
    for (const device of devices) {
      this.options.log('warn', `${name} leaves ${device.name}, driver ${device.driver} (${failure.code})`);
    }
  }

  /** A plan made anew without what failed, then the processor; undefined where neither may or can have it. */
  async move(resident: Resident, load: Partial<HostLoad>, failure: DeviceFailure): Promise<Move | undefined> {
    const { ref, terms } = resident;
    if (!terms?.gpu) return undefined;
    await this.blame(ref, terms, failure);
    const moved =
      (await this.onOthers(resident, terms, load)) ??
      (this.options.mayLeaveDevice() ? this.pools.moved(resident, load, {}, this.options.slots) : undefined);
    if (!moved || resident.ending) return undefined;
    const names = gpusOf(moved.terms).map(({ name }) => name);
    this.options.log('warn', `${ref.name} goes on on ${names.join(', ') || 'the processor'}`);
    return { ...moved, fallback: this.fallback(ref, this.out(ref)) ?? resident.fallback };
  }

  private async onOthers(
    resident: Resident,
    { plan, context, kvType }: Terms,
    load: Partial<HostLoad>,
  ): Promise<Omit<Move, 'fallback'> | undefined> {
    const { ref, wish } = resident;
    try {
      const { where } = await this.options.choose(plan, { ...wish, context, kvType }, this.out(ref));
      return where.gpu && this.pools.moved(resident, load, where, this.options.slots);
    } catch (error) {
      this.options.log('info', `${ref.name}: ${HearthError.from(error).message}`);
      return undefined;
    }
  }

  private outNow(path: string): DeviceFault[] {
    return outAt(this.faults.get(path) ?? [], Date.now());
  }
}
