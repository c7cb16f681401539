// What is known of a model before it is loaded: what its file asks of the memory, and what loads of it really took here. It keeps
// plans until the file changes and experience in the store; it decides nothing with either.
import { stat } from 'node:fs/promises';
import type { MemoryPlan, Stats } from '../contract/runtime';
import type { Store } from '../store/types';
import type { Experience } from './fit';
import type { Probe } from './types';

export type ExperienceStore = Pick<Store, 'measurements' | 'addMeasurement'>;

const LOAD = 'load';
const BANDWIDTH = 'bandwidth';

/** What a load was seen to take. */
export interface Seen {
  /** Beside weights and conversation, at the most. */
  heldBytes: number;
  /** Whether it has read a whole chunk of a prompt: before that it has not held what it will. */
  worked: boolean;
  decodeTps: number;
}

export class Knowledge {
  private readonly plans = new Map<string, { print: string; plan: MemoryPlan }>();
  private readonly seen = new Map<string, Seen>();
  private bandwidth: Promise<number | undefined> | undefined;

  constructor(
    private readonly probe: Probe,
    private readonly store: ExperienceStore | undefined,
    private readonly prefillChunk: number | undefined,
  ) {}

  /** Throws HearthError: what is wrong with the file. */
  async plan(path: string): Promise<MemoryPlan> {
    const print = await printOf(path);
    const known = this.plans.get(path);
    if (known && known.print === print) return known.plan;
    const plan = await this.probe.plan(path, this.prefillChunk);
    this.plans.set(path, { print, plan });
    return plan;
  }

  async experience({ model: { modelId } }: MemoryPlan): Promise<Experience> {
    const seen = this.seen.get(modelId);
    const known = seen?.worked ? seen : ((await this.remembered(modelId)) ?? seen);
    const decodeTps = seen?.decodeTps || known?.decodeTps;
    return { ...(known?.worked && { heldBytes: known.heldBytes }), ...(decodeTps && { decodeTps }) };
  }

  private async remembered(modelId: string): Promise<Seen | undefined> {
    const [latest] = (await this.store?.measurements(LOAD, modelId)) ?? [];
    const { heldBytes, decodeTps } = (latest?.values ?? {}) as Partial<Seen>;
    if (typeof heldBytes !== 'number') return undefined;
    return { heldBytes, worked: true, decodeTps: typeof decodeTps === 'number' ? decodeTps : 0 };
  }

  /** Of a load that goes on; the next look at the same one replaces this. */
  see(modelId: string, seen: Seen): void {
    this.seen.set(modelId, seen);
  }

  /** Keeps for after a restart what a load that worked was seen to take, where that is news. */
  async remember(modelId: string): Promise<void> {
    const seen = this.seen.get(modelId);
    if (!seen?.worked || !this.store) return;
    const before = await this.remembered(modelId);
    if (before && isAbout(before.heldBytes, seen.heldBytes) && isAbout(before.decodeTps, seen.decodeTps)) return;
    const { heldBytes, decodeTps } = seen;
    await this.store.addMeasurement({ at: Date.now(), kind: LOAD, subject: modelId, values: { heldBytes, decodeTps } });
  }

  /** Bytes a second of plain reading, all threads together: measured once on this machine. Not while something runs (`quiet`). */
  readBytesPerSecond(quiet: boolean): Promise<number | undefined> {
    if (!this.bandwidth && !quiet) return this.rememberedBandwidth();
    this.bandwidth ??= this.rememberedBandwidth().then(async (known) => known ?? (await this.measureBandwidth()));
    return this.bandwidth;
  }

  private async rememberedBandwidth(): Promise<number | undefined> {
    const [latest] = (await this.store?.measurements(BANDWIDTH, 'cpu')) ?? [];
    const value = latest?.values['readBytesPerSecond'];
    return typeof value === 'number' ? value : undefined;
  }

  private async measureBandwidth(): Promise<number | undefined> {
    try {
      const { readBytesPerSecond } = await this.probe.limits();
      const values = { readBytesPerSecond };
      await this.store?.addMeasurement({ at: Date.now(), kind: BANDWIDTH, subject: 'cpu', values });
      return readBytesPerSecond;
    } catch {
      this.bandwidth = undefined; // the next who asks tries again
      return undefined;
    }
  }
}

/** A look at a load that runs, together with the looks before. */
export function seenIn(stats: Stats, prefillRows: number, before: Seen | undefined): Seen {
  const blocks = stats.blocksUsed + stats.blocksCached + stats.blocksFree;
  const kvBytes = blocks > 0 ? (stats.kvBytesTotal / blocks) * (stats.blocksUsed + stats.blocksCached) : 0;
  return {
    heldBytes: Math.max(before?.heldBytes ?? 0, stats.rssAnonBytes - kvBytes),
    worked: (before?.worked ?? false) || stats.promptTokens >= prefillRows,
    decodeTps: stats.decodeTps > 0 ? stats.decodeTps : (before?.decodeTps ?? 0),
  };
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
