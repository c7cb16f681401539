// The graphics devices of this machine and what is free on each, as the probe last saw it. A look opens drivers in the probe's process, so
// it is kept for a while; what our own models give back is known without one. It chooses nothing.
import type { Device, LogLevel } from '../contract/runtime';
import type { Gpu, Room } from './fit';
import type { Probe } from './types';

/** Free memory as it was seen is believed for so long; that there is no device at all, or where it need not be exact, for longer. */
const FRESH_MS = 2_000;
const KEPT_MS = 60_000;

/** A device, and what all models together may take of it: what was free, and what they held at that time. */
export interface SeenGpu extends Gpu {
  driver: string;
  totalBytes: number;
  limitBytes: number;
}

export class Gpus {
  private seen: SeenGpu[] = [];
  private at = -Infinity;
  private looking: Promise<SeenGpu[]> | undefined;

  constructor(
    private readonly probe: Pick<Probe, 'devices'>,
    /** What our models hold of a device now. */
    private readonly held: (device: string) => number,
    private readonly log: (level: LogLevel, text: string) => void,
  ) {}

  /** As they were last seen. */
  last(): readonly SeenGpu[] {
    return this.seen;
  }

  /** `quick`: what was seen a while ago will do. */
  look(quick = false): Promise<SeenGpu[]> {
    const changes = this.seen.length > 0 && !quick;
    if (performance.now() - this.at < (changes ? FRESH_MS : KEPT_MS)) return Promise.resolve(this.seen);
    this.looking ??= this.lookNow().finally(() => (this.looking = undefined));
    return this.looking;
  }

  /** What was seen before is believed no more. */
  async lookAnew(): Promise<readonly SeenGpu[]> {
    await this.looking;
    this.at = -Infinity;
    return this.look();
  }

  /** As memories that a model could be loaded into, beside the machine's. */
  async rooms(ram: Room, quick = false): Promise<Room[]> {
    const seen = await this.look(quick);
    return seen.map((gpu) => roomOf(gpu, ram, this.held(gpu.id)));
  }

  /** A driver that crashes the probe is as good as none; the log says so. */
  private async lookNow(): Promise<SeenGpu[]> {
    try {
      const { devices } = await this.probe.devices();
      this.seen = devices.flatMap((device) => this.seenIn(device));
    } catch (error) {
      this.log(
        'warn',
        `graphics devices could not be listed: ${error instanceof Error ? error.message : String(error)}`,
      );
      this.seen = [];
    }
    this.at = performance.now();
    return this.seen;
  }

  private seenIn({ id, name, graphics, memoryTotal, memoryFree }: Device): SeenGpu[] {
    if (!graphics) return [];
    const { type, unified, budgetKnown, driver } = graphics;
    // Without a budget the driver does not see what anybody holds, us included.
    const held = budgetKnown ? this.held(id) : 0;
    const limitBytes = Math.min(memoryTotal, memoryFree + held);
    return [{ id, name, type, unified, driver, totalBytes: memoryTotal, limitBytes }];
  }
}

/** Whether a device is there no more. Some drivers give another id after an update, so the name counts, too. */
export const isGone = (device: Pick<SeenGpu, 'id' | 'name'>, there: readonly Pick<SeenGpu, 'id' | 'name'>[]): boolean =>
  !there.some(({ id, name }) => id === device.id || name === device.name);

function roomOf({ limitBytes, totalBytes, driver: _, ...gpu }: SeenGpu, ram: Room, ownBytes: number): Room {
  if (!gpu.unified) return { totalBytes, freeBytes: limitBytes, ownBytes, gpu };
  const { readBytesPerSecond: _speed, opsPerSecond: _ops, ...machine } = ram;
  return { ...machine, mostBytes: limitBytes, gpu };
}
