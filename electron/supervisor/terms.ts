// On which terms a model comes into memory: what it asks of the broker, and with how long a context. Pure.
import type { LoadOptions, MemoryPlan } from '../contract/runtime';
import type { Ask } from './broker';
import { automaticKv, contextWithin, kvBytesOf, kvShareOf, loadOf, type Experience, type KvType } from './fit';
import type { SeenGpu } from './gpus';
import type { LoadWish } from './types';

export const RAM = 'ram';

export type HostLoad = Omit<LoadOptions, 'path'>;

/** What is known of a model before its load. */
export interface Known {
  plan: MemoryPlan;
  experience: Experience;
  /** The graphics device that was chosen for it; absent: the processor. */
  gpu?: SeenGpu | undefined;
}

/** The memory that a model is in: a card's, or the machine's, which is also that of devices that have none of their own. */
export const poolOf = (gpu: SeenGpu | undefined): string => (gpu && !gpu.unified ? gpu.id : RAM);

/** What a model on this machine was promised at its load. */
export interface Terms {
  plan: MemoryPlan;
  gpu?: SeenGpu | undefined;
  kvType: KvType;
  context: number;
  heldBytes: number;
  /** Of the machine's memory, where the model is on a card. */
  hostBytes: number;
  kvMin: number;
  kvMax: number;
  kvGrant: number;
}

/** A wish and the options of all loads, in one. */
export interface Wished {
  kvType: KvType;
  /** 0: as the memory allows. */
  context: number;
  /** Fixed by the options; 0: not. */
  kvBytes: number;
  /** Of keys and values in 32 bits against those in 16. */
  scale: number;
}

/** Exact computing keeps 32-bit floats. */
export function termsWished(wish: LoadWish, load: Partial<HostLoad>): Wished {
  const kvType = wish.kvType ?? load.kvType;
  return {
    kvType: kvType === 'q8' ? 'q8' : 'f16',
    context: wish.context || load.context || 0,
    kvBytes: load.kvBytes ?? 0,
    scale: load.precision === 'exact' || load.device === 'reference' ? 2 : 1,
  };
}

export function askOf(
  path: string,
  { plan, experience, gpu }: Known,
  { kvType, context, kvBytes, scale }: Wished,
  { limit, slots }: { limit: number; slots: number },
): Ask {
  const { weightBytes, heldBytes, coldBytes, hostBytes } = loadOf(plan, gpu, experience);
  const left = (limit - heldBytes - weightBytes) / scale;
  const automatic = automaticKv(plan, kvType, left, slots, kvShareOf(gpu));
  const named = kvBytesOf(plan, Math.min(context, plan.model.context), kvType);
  const kvMin = kvBytes || (context > 0 ? named : automatic.min) * scale;
  const kvMax = Math.max(kvMin, kvBytes || automatic.max * scale);
  return { path, weightBytes, heldBytes, kvMin, kvMax, coldBytes, hostBytes };
}

/** Where nobody named a context, the longest one that the grant allows is promised. */
export function termsOf(ask: Ask, { plan, gpu }: Known, { kvType, context, scale }: Wished, kvGrant: number): Terms {
  const { heldBytes, hostBytes, kvMax } = ask;
  const promised = context > 0 ? Math.min(context, plan.model.context) : contextWithin(plan, kvGrant / scale, kvType);
  const kvMin = Math.min(kvGrant, kvBytesOf(plan, promised, kvType) * scale);
  return { plan, gpu, kvType, context: promised, heldBytes, hostBytes, kvMin, kvMax, kvGrant };
}

/** For the runtime: it may hold what was granted, and later at most this. */
export const boundsOf = ({ context, kvMax, gpu }: Terms): Partial<HostLoad> => ({
  context,
  kvBytes: kvMax,
  ...(gpu && { device: gpu.id }),
});
