// How often each expert of a model is used, asked of its runtime from time to time and before it ends, and which experts had no place
// beside their layers; both are kept for the next load. No model is loaded anew for what is learnt. Sums are heat.ts's.
import { isDeepStrictEqual } from 'node:util';
import type { LayerUses, MemoryPlan, ServedLayer } from '../contract/runtime';
import type { Store, StoredUses } from '../store/types';
import { added, heatOf, since, soundUses } from './heat';
import type { ModelHost } from './model-host';
import type { Habit } from './placement/sizes';

export type UsesStore = Pick<Store, 'expertUses' | 'saveExpertUses'>;

/** A look so often is enough for who works on. */
const EVERY_MS = 5 * 60_000;
/** A runtime that does not answer in so long is not waited for: it may be about to end. */
const ANSWER_MS = 250;

type Uses = Pick<StoredUses, 'layers' | 'served'>;
type Host = Pick<ModelHost, 'state' | 'call'>;

export class ExpertUses {
  /** Of each load what it had counted at the last look. */
  private readonly seen = new WeakMap<Host, LayerUses[]>();
  private readonly lookedAt = new WeakMap<Host, number>();
  private readonly measured = new WeakSet<Host>();
  private readonly known = new Map<string, Promise<Uses>>();

  constructor(private readonly store: Partial<UsesStore> | undefined) {}

  /** Of a model that goes on working: every few minutes. */
  async nowAndThen(host: Host, plan: MemoryPlan): Promise<void> {
    const now = Date.now();
    if (this.measured.has(host) || now - (this.lookedAt.get(host) ?? 0) < EVERY_MS) return;
    this.lookedAt.set(host, now);
    await this.keep(plan, await this.ask(host, plan));
  }

  /** What is new since the last look, to be kept. Never throws: what is not told now is told at the next look. */
  async ask(host: Host, { model }: MemoryPlan): Promise<LayerUses[]> {
    if (model.experts === 0 || host.state !== 'ready') return [];
    const reply = await within(ANSWER_MS, host.call('expertUses', {}));
    if (!reply) return [];
    const now = soundUses(reply.layers, model);
    const fresh = since(this.seen.get(host) ?? [], now);
    this.seen.set(host, now);
    return fresh;
  }

  async keep({ model: { modelId } }: MemoryPlan, fresh: readonly LayerUses[]): Promise<void> {
    if (!fresh.some(({ rows }) => rows > 0)) return;
    await this.change(modelId, ({ layers, served }) => ({ layers: added(layers, fresh), served }));
  }

  /** Of a measurement: what is made up for it is nobody's habit. */
  async aside<T>(host: Host, plan: MemoryPlan, work: () => Promise<T>): Promise<T> {
    await this.keep(plan, await this.ask(host, plan));
    this.measured.add(host);
    try {
      return await work();
    } finally {
      await this.ask(host, plan);
      this.measured.delete(host);
    }
  }

  /** It was loaded so. */
  async placed({ model: { modelId } }: MemoryPlan, served: readonly ServedLayer[]): Promise<void> {
    if (isDeepStrictEqual((await this.of(modelId)).served, served)) return;
    await this.change(modelId, ({ layers }) => ({ layers, served: [...served] }));
  }

  async habit({ model }: MemoryPlan): Promise<Habit> {
    if (model.experts === 0) return {};
    const { layers, served } = await this.of(model.modelId);
    return { heat: heatOf(layers, model), before: served };
  }

  private async change(modelId: string, next: (known: Uses) => Uses): Promise<void> {
    const changed = this.of(modelId).then(next);
    this.known.set(modelId, changed);
    await this.store?.saveExpertUses?.({ modelId, ...(await changed), at: Date.now() }).catch(() => undefined);
  }

  private of(modelId: string): Promise<Uses> {
    const known = this.known.get(modelId) ?? this.stored(modelId);
    this.known.set(modelId, known);
    return known;
  }

  private async stored(modelId: string): Promise<Uses> {
    return (await this.store?.expertUses?.(modelId).catch(() => undefined)) ?? { layers: [], served: [] };
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  return Promise.race([work.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}
