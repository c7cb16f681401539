// What is known of a model before it is loaded: what its file asks of the memory, and what loads of it really took here. It keeps
// plans until the file changes and experience in the store; it decides nothing with either.
import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { MemoryPlan, Stats } from '../contract/runtime';
import type { Store } from '../store/types';
import { ExpertUses, type UsesStore } from './expert-uses';
import type { Experience } from './fit';
import type { Rates } from './placement/trial';
import type { Probe } from './types';

export type ExperienceStore = Pick<Store, 'measurements' | 'addMeasurement'> & Partial<UsesStore>;

const LOAD = 'load';
const BANDWIDTH = 'bandwidth';
const DEVICE = 'device';
const TRIAL = 'trial';

/** How fast a model was when its load was measured: on which devices and in which way, with which drivers and build. */
export interface Trial extends Rates {
  devices: string;
  print: string;
}

/** What a load was seen to take. */
export interface Seen {
  /** Of the machine's memory, beside weights and conversation, at the most. */
  heldBytes: number;
  /** Of a graphics device's: everything but the conversation. */
  deviceBytes?: number;
  /** Whether it has read a whole chunk of a prompt: before that it has not held what it will. */
  worked: boolean;
  decodeTps: number;
}

/** A graphics device on which a model was, by what stays the same of it. */
export interface LastDevice {
  id: string;
  name: string;
  driver: string;
}

export class Knowledge {
  readonly uses: ExpertUses;
  private readonly plans = new Map<string, { print: string; plan: MemoryPlan }>();
  private readonly seen = new Map<string, Seen>();
  private readonly devices = new Map<string, LastDevice[]>();
  /** Of this run, the latest first. */
  private readonly trialsHere = new Map<string, Trial[]>();
  private readonly bandwidths = new Map<string, Promise<number | undefined>>();

  constructor(
    private readonly probe: Probe,
    private readonly store: ExperienceStore | undefined,
    private readonly prefillChunk: number | undefined,
  ) {
    this.uses = new ExpertUses(store);
  }

  /** Throws HearthError: what is wrong with the file. */
  async plan(path: string): Promise<MemoryPlan> {
    const print = await printOf(path);
    const known = this.plans.get(path);
    if (known && known.print === print) return known.plan;
    const plan = await this.probe.plan(path, this.prefillChunk);
    this.plans.set(path, { print, plan });
    return plan;
  }

  /** On the processor, or on a graphics device. */
  async experience(plan: MemoryPlan, device?: string): Promise<Experience> {
    const subject = subjectOf(plan, device);
    const seen = this.seen.get(subject);
    const known = seen?.worked ? seen : ((await this.remembered(subject)) ?? seen);
    const decodeTps = seen?.decodeTps || known?.decodeTps;
    const { heldBytes, deviceBytes } = known?.worked ? known : {};
    return {
      ...(heldBytes !== undefined && { heldBytes }),
      ...(deviceBytes !== undefined && { deviceBytes }),
      ...(decodeTps && { decodeTps }),
    };
  }

  private async remembered(subject: string): Promise<Seen | undefined> {
    const [latest] = (await this.store?.measurements(LOAD, subject)) ?? [];
    const { heldBytes, deviceBytes, decodeTps } = (latest?.values ?? {}) as Partial<Seen>;
    if (typeof heldBytes !== 'number') return undefined;
    return {
      heldBytes,
      ...(typeof deviceBytes === 'number' && { deviceBytes }),
      worked: true,
      decodeTps: typeof decodeTps === 'number' ? decodeTps : 0,
    };
  }

  /** Of a load that goes on; the next look at the same one replaces this. */
  see(subject: string, seen: Seen): void {
    this.seen.set(subject, seen);
  }

  /** Keeps for after a restart what a load that worked was seen to take, where that is news. */
  async remember(subject: string): Promise<void> {
    const seen = this.seen.get(subject);
    if (!seen?.worked || !this.store) return;
    const before = await this.remembered(subject);
    if (before && isAbout(before.heldBytes, seen.heldBytes) && isAbout(before.decodeTps, seen.decodeTps)) return;
    const { worked: _, ...values } = seen;
    await this.store.addMeasurement({ at: Date.now(), kind: LOAD, subject, values });
  }

  /** The graphics devices that it was loaded on last; none: it was the processor, or never. */
  async lastDevices({ model: { modelId } }: MemoryPlan): Promise<LastDevice[]> {
    const known = this.devices.get(modelId);
    if (known) return known;
    const [latest] = (await this.store?.measurements(DEVICE, modelId)) ?? [];
    const { others, ...first } = (latest?.values ?? {}) as Partial<LastDevice> & { others?: Partial<LastDevice>[] };
    const last = [first, ...(Array.isArray(others) ? others : [])].filter(isDevice);
    this.devices.set(modelId, last);
    return last;
  }

  async loadedOn(plan: MemoryPlan, devices: readonly LastDevice[]): Promise<void> {
    const { modelId } = plan.model;
    const now = devices.map(({ id, name, driver }) => ({ id, name, driver }));
    if (isDeepStrictEqual(await this.lastDevices(plan), now)) return;
    this.devices.set(modelId, now);
    const [first, ...others] = now;
    const values = { ...first, ...(others.length > 0 && { others }) };
    await this.store?.addMeasurement({ at: Date.now(), kind: DEVICE, subject: modelId, values });
  }

  /** Of each way to share it the last one. */
  async trials({ model: { modelId } }: MemoryPlan): Promise<Trial[]> {
    const stored = (await this.store?.measurements(TRIAL, modelId)) ?? [];
    const all = [...(this.trialsHere.get(modelId) ?? []), ...stored.map(({ values }) => values).filter(isTrial)];
    return all.filter(({ devices }, index) => all.findIndex((each) => each.devices === devices) === index);
  }

  async tried({ model: { modelId } }: MemoryPlan, trial: Trial): Promise<void> {
    this.trialsHere.set(modelId, [trial, ...(this.trialsHere.get(modelId) ?? [])]);
    const values = { ...trial };
    await this.store?.addMeasurement({ at: Date.now(), kind: TRIAL, subject: modelId, values }).catch(() => undefined);
  }

  /** Bytes a second of plain reading, of all the processor or of a device: measured once. Not while something runs (`quiet`). */
  readBytesPerSecond(quiet: boolean, device = 'cpu'): Promise<number | undefined> {
    const known = this.bandwidths.get(device);
    if (known) return known;
    if (!quiet) return this.rememberedBandwidth(device);
    const found = this.rememberedBandwidth(device).then(
      async (value) => value ?? (await this.measureBandwidth(device)),
    );
    this.bandwidths.set(device, found);
    return found;
  }

  private async rememberedBandwidth(device: string): Promise<number | undefined> {
    const [latest] = (await this.store?.measurements(BANDWIDTH, device)) ?? [];
    const value = latest?.values['readBytesPerSecond'];
    return typeof value === 'number' ? value : undefined;
  }

  /** What it multiplies, as it was measured beside its bandwidth; undefined: it never was. */
  async opsPerSecond(device = 'cpu'): Promise<number | undefined> {
    const [latest] = (await this.store?.measurements(BANDWIDTH, device)) ?? [];
    const value = latest?.values['opsPerSecond'];
    return typeof value === 'number' && value > 0 ? value : undefined;
  }

  private async measureBandwidth(device: string): Promise<number | undefined> {
    try {
      const limits = await this.probe.limits(device === 'cpu' ? undefined : device);
      const { readBytesPerSecond, int8OpsPerSecond: opsPerSecond } = limits;
      const values = { readBytesPerSecond, opsPerSecond };
      await this.store?.addMeasurement({ at: Date.now(), kind: BANDWIDTH, subject: device, values });
      return readBytesPerSecond;
    } catch {
      this.bandwidths.delete(device); // the next who asks tries again
      return undefined;
    }
  }
}

/** Under what a model's loads are remembered: each device has its own. */
export const subjectOf = ({ model: { modelId } }: MemoryPlan, device?: string): string =>
  device === undefined ? modelId : `${modelId} ${device}`;

/** A look at a load that runs, together with the looks before. `software`: the device's memory is the process's own. */
export function seenIn(stats: Stats, prefillRows: number, before: Seen | undefined, software = false): Seen {
  const { deviceBytes, rssAnonBytes, kvBytesTotal } = stats;
  const blocks = stats.blocksUsed + stats.blocksCached + stats.blocksFree;
  const kvBytes = blocks > 0 ? (kvBytesTotal / blocks) * (stats.blocksUsed + stats.blocksCached) : 0;
  const onDevice = deviceBytes > 0;
  const heldBytes = rssAnonBytes - (onDevice ? (software ? deviceBytes : 0) : kvBytes);
  return {
    heldBytes: Math.max(before?.heldBytes ?? 0, heldBytes),
    ...(onDevice && { deviceBytes: Math.max(before?.deviceBytes ?? 0, deviceBytes - kvBytesTotal) }),
    worked: (before?.worked ?? false) || stats.promptTokens >= prefillRows,
    decodeTps: stats.decodeTps > 0 ? stats.decodeTps : (before?.decodeTps ?? 0),
  };
}

const isDevice = (each: Partial<LastDevice>): each is LastDevice =>
  each.id !== undefined && each.name !== undefined && each.driver !== undefined;

function isTrial(values: Record<string, unknown>): values is Record<string, unknown> & Trial {
  const { devices, print, decodeTps, prefillTps } = values;
  const speeds = typeof decodeTps === 'number' && typeof prefillTps === 'number' && Math.min(decodeTps, prefillTps) > 0;
  return typeof devices === 'string' && typeof print === 'string' && speeds;
}

const isAbout = (one: number, two: number): boolean => Math.abs(one - two) <= 0.05 * Math.max(one, two);

async function printOf(path: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${size} ${mtimeMs}`;
  } catch {
    return ''; // the probe says what is wrong
  }
}
