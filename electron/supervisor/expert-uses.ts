// How often each expert of a model is used: asked of its runtime from time to time and before it ends, and kept for the next load. A plan
// that is made meanwhile goes by what was known before; no model is loaded anew for it. Sums and steps are heat.ts's.
import type { LayerUses, MemoryPlan } from '../contract/runtime';
import type { Store } from '../store/types';
import { added, heatOf, since, soundUses } from './heat';
import type { ModelHost } from './model-host';
import type { Heat } from './placement/sizes';

export type UsesStore = Pick<Store, 'expertUses' | 'saveExpertUses'>;

/** A look so often is enough for who works on. */
const EVERY_MS = 5 * 60_000;
/** A runtime that does not answer in so long is not waited for: it may be about to end. */
const ANSWER_MS = 250;

type Host = Pick<ModelHost, 'state' | 'call'>;

export class ExpertUses {
  /** Of each load what it had counted at the last look. */
  private readonly seen = new WeakMap<Host, LayerUses[]>();
  private readonly lookedAt = new WeakMap<Host, number>();
  private readonly known = new Map<string, Promise<LayerUses[]>>();

  constructor(private readonly store: Partial<UsesStore> | undefined) {}

  /** Of a model that goes on working: every few minutes. */
  async nowAndThen(host: Host, plan: MemoryPlan): Promise<void> {
    const now = Date.now();
    if (now - (this.lookedAt.get(host) ?? 0) < EVERY_MS) return;
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
    const sum = this.of(modelId).then((known) => added(known, fresh));
    this.known.set(modelId, sum);
    await this.store?.saveExpertUses?.({ modelId, layers: await sum, at: Date.now() }).catch(() => undefined);
  }

  /** Undefined: nothing is known. */
  async heat({ model }: MemoryPlan): Promise<Heat | undefined> {
    return model.experts === 0 ? undefined : heatOf(await this.of(model.modelId), model);
  }

  private of(modelId: string): Promise<LayerUses[]> {
    const known = this.known.get(modelId) ?? this.stored(modelId);
    this.known.set(modelId, known);
    return known;
  }

  private async stored(modelId: string): Promise<LayerUses[]> {
    return (await this.store?.expertUses?.(modelId).catch(() => undefined)) ?? [];
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  return Promise.race([work.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}
