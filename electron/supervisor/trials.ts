// Measures a model that was just loaded onto several devices, once for each way to share it, and says whether another way is to be had
// instead. Which that is, placement/trial.ts decides; nothing is loaded here.
import type { BenchResult, LogLevel, Params } from '../contract/runtime';
import type { Knowledge } from './knowledge';
import type { ModelHost } from './model-host';
import { devicesOf } from './placement/mesh';
import { fasterOf, worthTrying, type Rates } from './placement/trial';
import type { Placement } from './placement/types';
import type { Terms, Where } from './terms';

/** All of a measurement; a first look, and what a chunk of a prompt shall take. */
const LOOK = { prefill: 16, decode: 8, withinMs: 1500 };
const CHUNK = { most: 512, leastGain: 2, seconds: 0.75, withinMs: 1500 };

interface Loaded {
  terms: Terms | undefined;
  host: Pick<ModelHost, 'call' | 'loaded' | 'state'>;
  ref: { name: string };
}

export class Trials {
  constructor(
    private readonly knowledge: Pick<Knowledge, 'trials' | 'tried' | 'uses'>,
    private readonly log: (level: LogLevel, text: string) => void,
  ) {}

  /** Undefined: it stays as it is. */
  async better({ terms, host, ref }: Loaded): Promise<Where | undefined> {
    const { division, plan } = terms ?? {};
    if (!division || !plan || !division.rivals?.length) return undefined;
    const { placement, gpus, rivals } = division;
    const used = gpus.filter(({ id }) => placement.shares.some(({ device }) => device === id));
    const print = [host.loaded?.engineBuild ?? '', ...used.map(({ id, driver }) => `${id} ${driver}`)].join('; ');
    const known = new Map<string, Rates>();
    for (const each of await this.knowledge.trials(plan)) if (each.print === print) known.set(each.devices, each);
    const ratesOf = (each: Placement) => known.get(devicesOf(each));
    if (!ratesOf(placement)) {
      const rates = await this.knowledge.uses.aside(host, plan, () => measured((params) => host.call('bench', params)));
      if (!rates) return undefined;
      known.set(devicesOf(placement), rates);
      await this.knowledge.tried(plan, { devices: devicesOf(placement), print, ...rates });
      const [writes, reads] = [rates.decodeTps, rates.prefillTps].map((tps) => tps.toFixed(1));
      this.log('info', `${ref.name}: measured ${writes} tokens/s written and ${reads} read (${placement.kind})`);
    }
    const next = fasterOf(placement, rivals, ratesOf) ?? worthTrying(placement, rivals, ratesOf);
    if (!next) return undefined;
    const why = ratesOf(next) ? 'was measured to be faster' : 'is measured, too';
    this.log('info', `${ref.name} is loaded anew: ${next.kind} ${why}`);
    const others = [placement, ...rivals.filter((rival) => rival !== next)];
    const gpu = gpus.find(({ id }) => id === next.shares[0]?.device);
    return { gpu, division: { placement: next, gpus, rivals: others } };
  }
}

/** A few tokens, then as long a piece of a prompt as there is time for. Undefined where nothing came of it. */
export async function measured(bench: (params: Params<'bench'>) => Promise<BenchResult>): Promise<Rates | undefined> {
  try {
    const look = await bench(LOOK);
    if (!(look.decodeTps > 0) || !(look.prefillTps > 0)) return undefined;
    const rows = Math.min(CHUNK.most, Math.floor(look.prefillTps * CHUNK.seconds));
    if (rows < CHUNK.leastGain * LOOK.prefill) return { decodeTps: look.decodeTps, prefillTps: look.prefillTps };
    const chunk = await bench({ prefill: rows, decode: 1, withinMs: CHUNK.withinMs });
    return { decodeTps: look.decodeTps, prefillTps: Math.max(look.prefillTps, chunk.prefillTps) };
  } catch {
    return undefined; // the load goes on; what is wrong shows at the first request
  }
}
