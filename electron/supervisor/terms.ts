// On which terms a model comes into memory: what it asks of the broker, and with how long a context. Pure.
import type { LoadOptions, MemoryPlan } from '../contract/runtime';
import {
  automaticKv,
  coldBytesOf,
  contextWithin,
  kvBytesOf,
  kvShareOf,
  loadOf,
  processBytesOf,
  type Experience,
  type KvType,
} from './fit';
import type { SeenGpu } from './gpus';
import { devicesOf, kvOf, meshOf } from './placement/mesh';
import type { Placement } from './placement/types';
import type { LoadWish } from './types';

export const RAM = 'ram';

export type HostLoad = Omit<LoadOptions, 'path'>;

/** Where a model goes. */
export interface Where {
  /** The graphics device that was chosen for it, or the first of several; absent: the processor. */
  gpu?: SeenGpu | undefined;
  /** Several devices share it. */
  division?: Division | undefined;
}

export interface Division {
  placement: Placement;
  gpus: readonly SeenGpu[];
  /** Other ways for the same devices. */
  rivals?: readonly Placement[];
}

/** What is known of a model before its load. */
export interface Known extends Where {
  plan: MemoryPlan;
  experience: Experience;
}

/** The memory that a model is in: a card's, or the machine's, which is also that of devices that have none of their own. */
export const poolOf = (gpu: SeenGpu | undefined): string => (gpu && !gpu.unified ? gpu.id : RAM);

/** What a model takes of one memory. */
export interface Part {
  gpu?: SeenGpu | undefined;
  weightBytes: number;
  heldBytes: number;
  /** Of what its conversations take. */
  kvShare: number;
}

/** What a model asks of the broker: the same of each memory, or of none. */
export interface Asking {
  path: string;
  parts: Part[];
  kvMin: number;
  kvMax: number;
  /** Of the weights, what may lack room where nothing else can be done. */
  coldBytes: number;
}

/** What a model on this machine was promised at its load. */
export interface Terms extends Where {
  plan: MemoryPlan;
  kvType: KvType;
  context: number;
  parts: Part[];
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

/** What it takes of each memory; a card's model has its process in the machine's. */
export function partsOf({ plan, experience, gpu, division }: Known): Part[] {
  if (division) return partsOfDivision(division, plan);
  const { weightBytes, heldBytes, hostBytes } = loadOf(plan, gpu, experience);
  const main = { ...(gpu && { gpu }), weightBytes, heldBytes, kvShare: 1 };
  return hostBytes > 0 ? [main, { weightBytes: 0, heldBytes: hostBytes, kvShare: 0 }] : [main];
}

function partsOfDivision({ placement, gpus }: Division, plan: MemoryPlan): Part[] {
  const kv = kvOf(placement, plan);
  const pools = new Map<string, Part>();
  const add = (gpu: SeenGpu | undefined, { weightBytes, heldBytes, kvShare }: Part) => {
    const there = pools.get(poolOf(gpu)) ?? { ...(gpu && { gpu }), weightBytes: 0, heldBytes: 0, kvShare: 0 };
    pools.set(poolOf(gpu), {
      ...there,
      weightBytes: there.weightBytes + weightBytes,
      heldBytes: there.heldBytes + heldBytes,
      kvShare: there.kvShare + kvShare,
    });
  };
  for (const [index, { device, weightBytes, scratchBytes }] of placement.shares.entries()) {
    const gpu = gpus.find(({ id }) => id === device);
    add(gpu, { weightBytes, heldBytes: scratchBytes, kvShare: kv.parts[index] ?? 0 });
  }
  // The processor's working space counts the process.
  if (placement.shares.every(({ kind }) => kind === 'gpu')) {
    add(undefined, { weightBytes: 0, heldBytes: processBytesOf(plan), kvShare: 0 });
  }
  return [...pools.values()];
}

/** Bytes of conversations against those that one device's would have. */
const scaleOf = ({ division, plan }: Known, { scale }: Wished): number =>
  scale * (division ? kvOf(division.placement, plan).scale : 1);

export function askOf(
  path: string,
  known: Known,
  wished: Wished,
  { limitOf, slots }: { limitOf(gpu?: SeenGpu): number; slots: number },
): Asking {
  const { plan, gpu, division } = known;
  const { kvType, context, kvBytes } = wished;
  const scale = scaleOf(known, wished);
  const parts = partsOf(known);
  const lefts = parts
    .filter(({ kvShare }) => kvShare > 0)
    .map((part) => (limitOf(part.gpu) - part.heldBytes - part.weightBytes) / part.kvShare);
  const automatic = automaticKv(plan, kvType, Math.min(...lefts) / scale, slots, kvShareOf(gpu));
  const named = kvBytesOf(plan, Math.min(context, plan.model.context), kvType);
  const kvMin = kvBytes || (context > 0 ? named : automatic.min) * scale;
  const kvMax = Math.max(kvMin, kvBytes || automatic.max * scale);
  return { path, parts, kvMin, kvMax, coldBytes: gpu || division ? 0 : coldBytesOf(plan) };
}

/** Where nobody named a context, the longest one that the grant allows is promised. */
export function termsOf({ parts, kvMax }: Asking, known: Known, wished: Wished, kvGrant: number): Terms {
  const { plan, gpu, division } = known;
  const { kvType, context } = wished;
  const scale = scaleOf(known, wished);
  const promised = context > 0 ? Math.min(context, plan.model.context) : contextWithin(plan, kvGrant / scale, kvType);
  const kvMin = Math.min(kvGrant, kvBytesOf(plan, promised, kvType) * scale);
  return { plan, gpu, division, kvType, context: promised, parts, kvMin, kvMax, kvGrant };
}

/** For the runtime: it may hold what was granted, and later at most this. */
export function boundsOf({ context, kvMax, gpu, division }: Terms): Partial<HostLoad> {
  const mesh = division && meshOf(division.placement);
  return { context, kvBytes: kvMax, ...(gpu && { device: gpu.id }), ...(mesh && { mesh }) };
}

/** Under what loads there are remembered; undefined: the processor alone. */
export const subjectDevice = ({ gpu, division }: Where): string | undefined =>
  division ? devicesOf(division.placement) : gpu?.id;
