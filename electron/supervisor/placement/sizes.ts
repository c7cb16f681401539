// What parts of a model weigh on a device: layers, their experts, their keys and values. Pure; bytes in, bytes out.
import type { MemoryPlan, ServedLayer } from '../../contract/runtime';
import { deviceHeldBytesOf, heldBytesOf, kvBytesOf, type KvType } from '../fit';

/** A conversation of this length is what the expected speed is told for. */
const SPOKEN_TOKENS = 2048;

export interface Layer {
  /** Attention, norms, router, and the MLP of a dense layer. */
  shared: number;
  /** All its experts together; 0 in a dense layer. */
  experts: number;
  group: number;
}

/** What is known of the use of a model's experts, and which of them had no place beside their layers at its last load. */
export interface Habit {
  heat?: Heat | undefined;
  before?: readonly ServedLayer[] | undefined;
}

/** Of each layer how often each of its experts is used, relative to the others; undefined where nobody counted. */
export type Heat = readonly (readonly number[] | undefined)[];

/** One expert of a layer whose use is known. `use`: 1 where it is used as often as the layer's experts are on average. */
export interface UsedExpert {
  layer: number;
  expert: number;
  use: number;
}

export interface Sizes {
  layers: Layer[];
  /** The most used ones first. */
  byUse: UsedExpert[];
  before: readonly ServedLayer[];
  embedding: number;
  output: number;
  expertCount: number;
  expertsUsed: number;
  /** Devices that a layer can be shared out over; 1: it cannot. */
  mostShares: number;
  /**
   * Working space on the processor with its process, and on a graphics device: with the whole model, behind the first in a row, and with
   * a part of every layer, however small.
   */
  scratch: { cpu: number; gpu: number; row: number; share: number };
  /** Of one group's conversation: bytes for each layer of the fullest group on a device. */
  kvPerLayer: number[];
  /** The same of a conversation as the speed is told for. */
  spokenPerLayer: number[];
  /** Operations that a token asks of each byte of the weights that it meets. */
  opsPerByte: number;
}

/** Of a weight: a multiplication and an addition. Where nobody counted the weights, two of them are in a byte. */
const OPS_PER_WEIGHT = 2;
const GUESSED_WEIGHTS_PER_BYTE = 2;
const LEAST_WEIGHTS_PER_BYTE = 1 / 4;

function opsPerByteOf({ model, weightBytes }: MemoryPlan): number {
  const counted = model.parameters / Math.max(1, weightBytes);
  return OPS_PER_WEIGHT * (counted >= LEAST_WEIGHTS_PER_BYTE ? counted : GUESSED_WEIGHTS_PER_BYTE);
}

function perLayer(plan: MemoryPlan, context: number, kvType: KvType): number[] {
  const counts = plan.kv.windows.map((_, group) => plan.parts.layers.filter((layer) => layer.group === group).length);
  const most = Math.max(1, ...counts);
  return plan.kv.windows.map((window) => {
    const one = { ...plan, kv: { ...plan.kv, windows: [window] } };
    return kvBytesOf(one, Math.min(context, plan.model.context), kvType) / most;
  });
}

/** Experts of layers that nobody counted are in no list. */
function byUseOf(heat: Heat): UsedExpert[] {
  const all = heat.flatMap((each, layer) => {
    const sum = total(each ?? []);
    return sum > 0
      ? (each ?? []).map((uses, expert) => ({ layer, expert, use: (uses * (each ?? []).length) / sum }))
      : [];
  });
  return all.sort((one, two) => two.use - one.use || one.layer - two.layer || one.expert - two.expert);
}

export function sizesOf(
  plan: MemoryPlan,
  context: number,
  kvType: KvType,
  { heat = [], before = [] }: Habit = {},
): Sizes {
  const { parts, model, deviceScratchBytes } = plan;
  const { row, share } = plan.scratchOfParts ?? { row: deviceScratchBytes, share: deviceScratchBytes };
  return {
    layers: [...parts.layers],
    byUse: byUseOf(heat),
    before,
    embedding: parts.embedding,
    output: parts.output,
    expertCount: Math.max(1, model.experts),
    expertsUsed: Math.max(1, model.expertsUsed),
    mostShares: Math.max(1, plan.mostShares ?? 1),
    scratch: {
      cpu: heldBytesOf(plan),
      gpu: deviceHeldBytesOf(plan),
      row: deviceHeldBytesOf({ ...plan, deviceScratchBytes: row }),
      share: deviceHeldBytesOf({ ...plan, deviceScratchBytes: share }),
    },
    kvPerLayer: perLayer(plan, context, kvType),
    spokenPerLayer: perLayer(plan, Math.min(context, SPOKEN_TOKENS), kvType),
    opsPerByte: opsPerByteOf(plan),
  };
}

/** Keys and values of some layers on one device: its blocks are as large as its fullest group needs them. */
export function kvOn(layers: readonly Layer[], kvPerLayer: readonly number[]): number {
  const counts = kvPerLayer.map((_, group) => layers.filter((layer) => layer.group === group).length);
  const most = Math.max(0, ...counts);
  return kvPerLayer.reduce((sum, bytes, group) => sum + ((counts[group] ?? 0) > 0 ? bytes * most : 0), 0);
}

/** Of a conversation as the speed is told for, what a token adds. */
export const kvPerToken = (sizes: Sizes): number => kvOn(sizes.layers, sizes.spokenPerLayer) / SPOKEN_TOKENS;

export const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
