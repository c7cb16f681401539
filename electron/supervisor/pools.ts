// The memories that models are in, the machine's and those of its cards: what is held of each, and what may be. It asks the broker for
// decisions, and carries none of them out.
import { HearthError } from '../contract/errors';
import { both, least, place, regrow, type Grant, type Placement, type Tenant } from './broker';
import { GPU_RESERVE_BYTES, RESERVE_BYTES } from './fit';
import type { SeenGpu } from './gpus';
import type { MachineMemory } from './memory';
import type { Resident } from './resident';
import {
  RAM,
  askOf,
  poolOf,
  termsOf,
  termsWished,
  type Asking,
  type HostLoad,
  type Part,
  type Terms,
  type Where,
} from './terms';

export interface PoolOptions {
  memory(): MachineMemory;
  /** All models together take no more of the machine's memory; absent: what there is. */
  budgetBytes?: number;
}

export class Pools {
  constructor(
    private readonly residents: ReadonlyMap<string, Resident>,
    private readonly options: PoolOptions,
  ) {}

  tenants(pool: string = RAM): Tenant[] {
    return [...this.residents.values()]
      .map((resident) => resident.tenant(pool))
      .filter((tenant) => tenant !== undefined);
  }

  /** Held of the machine's memory by our own models, beside mapped files. */
  heldNow(): number {
    return [...this.residents.values()].reduce((sum, resident) => sum + resident.heldNow, 0);
  }

  heldOn(device: string): number {
    return [...this.residents.values()].reduce((sum, resident) => sum + resident.heldOn(device), 0);
  }

  /** What all models together may take: of the machine's memory, or of this device's. */
  limit(gpu?: SeenGpu): number {
    if (gpu && !gpu.unified) return Math.max(0, gpu.limitBytes - GPU_RESERVE_BYTES);
    const machine = this.options.memory().freeBytes + this.heldNow() - RESERVE_BYTES;
    return Math.max(0, Math.min(machine, this.options.budgetBytes ?? Infinity, gpu?.limitBytes ?? Infinity));
  }

  /** Whether it can come now: into every memory that it takes something of. `moves`: what it has now it leaves. */
  place({ parts, ...asking }: Asking, moves = false): Placement {
    return parts
      .map((part, index) => this.placePart(part, asking, index === 0 ? asking.coldBytes : 0, moves))
      .reduce((one, two) => both(one, two));
  }

  private placePart(
    { gpu, weightBytes, heldBytes, kvShare }: Part,
    { path, kvMin, kvMax }: Omit<Asking, 'parts'>,
    coldBytes: number,
    moves: boolean,
  ): Placement {
    const tenants = this.tenants(poolOf(gpu)).filter((tenant) => !moves || tenant.path !== path);
    const ask = { path, weightBytes, heldBytes, kvMin: kvMin * kvShare, kvMax: kvMax * kvShare, coldBytes };
    const placement = place(ask, tenants, this.limit(gpu));
    if (placement.kind !== 'grant') return placement;
    const kvBytes = kvShare > 0 ? placement.kvBytes / kvShare : kvMax;
    return { ...placement, kvBytes, shrink: this.whole(placement.shrink, poolOf(gpu)) };
  }

  /** Grants of one memory, as they are for all that these models have. */
  private whole(grants: readonly Grant[], pool: string): Grant[] {
    return grants.map(({ path, kvBytes }) => ({
      path,
      kvBytes: kvBytes / (this.residents.get(path)?.kvShareIn(pool) || 1),
    }));
  }

  /** On which terms a model whose device failed could go on there, with the context that it was promised; undefined where there is no room. */
  moved(
    { terms, ref }: Resident,
    load: Partial<HostLoad>,
    where: Where,
    slots: number,
  ): { terms: Terms; shrink: Grant[] } | undefined {
    if (!terms) return undefined;
    const known = { plan: terms.plan, experience: {}, ...where };
    const wished = termsWished({ context: terms.context, kvType: terms.kvType }, load);
    const asking = askOf(ref.path, known, wished, { limitOf: (gpu) => this.limit(gpu), slots });
    const placement = this.place(asking, true);
    if (placement.kind !== 'grant') return undefined;
    return { terms: termsOf(asking, known, wished, placement.kvBytes), shrink: placement.shrink };
  }

  /** What conversations may grow by, in each memory that they are in; a card's limit is that of the last load onto it. */
  regrow(): Grant[] {
    const parts = [...this.residents.values()].flatMap(({ terms }) => terms?.parts ?? []);
    const gpus = new Map(parts.map(({ gpu }) => [poolOf(gpu), gpu]));
    const grown = [...gpus].flatMap(([pool, gpu]) => this.whole(regrow(this.tenants(pool), this.limit(gpu)), pool));
    const memories = (path: string) =>
      this.residents.get(path)?.terms?.parts.filter(({ kvShare }) => kvShare > 0).length ?? 1;
    return least(grown).filter(({ path }) => grown.filter((grant) => grant.path === path).length === memories(path));
  }
}

export function noRoom(amount: { needed: number; available: number }, gpu: SeenGpu | undefined): HearthError {
  const [needed, available] = [amount.needed, amount.available].map((bytes) => (bytes / 1e9).toFixed(1));
  if (!gpu)
    return new HearthError('out_of_ram', `The model needs ${needed} GB of memory; ${available} GB can be had.`, amount);
  const text = `The model needs ${needed} GB of the memory of ${gpu.name}; ${available} GB can be had.`;
  return new HearthError('out_of_vram', text, amount);
}

/** A grant that grows by little is not worth a message. */
const STEP_BYTES = 32e6;

export function worthwhile(grants: readonly Grant[], residents: ReadonlyMap<string, Resident>): Grant[] {
  return grants.filter(({ path, kvBytes }) => {
    const terms = residents.get(path)?.terms;
    return terms && (kvBytes >= terms.kvMax || kvBytes - terms.kvGrant >= STEP_BYTES);
  });
}
