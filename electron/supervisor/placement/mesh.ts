// A plan over several devices in the words of the engine: who has which layers, and how a conversation's bytes are shared. Pure.
import type { MemoryPlan, Mesh } from '../../contract/runtime';
import { total } from './sizes';
import type { Placement } from './types';

/** Layers have experts in two places, the most used ones beside them. */
export const isByUse = ({ served = [] }: Pick<Placement, 'served'>): boolean => served.some(({ experts }) => experts);

/** Undefined where one device has all of it. */
export function meshOf({ kind, shares, served }: Placement): Mesh | undefined {
  if (shares.length < 2) return undefined;
  const rank = { threads: 0, share: 1, layers: 0 };
  if (kind === 'tensor_parallel') {
    const ranks = shares.map(({ device, fraction }) => ({ ...rank, device, share: fraction }));
    return { split: 'tensor', ranks, served: [] };
  }
  if (kind === 'handover') {
    const ranks = shares.map(({ device }) => ({ ...rank, device }));
    return { split: 'handover', ranks, served: [] };
  }
  const row = shares.filter(({ layers }) => layers > 0);
  const ranks = row.map(({ device, layers }) => ({ ...rank, device, layers }));
  return { split: 'layers', ranks, served: [...(served ?? [])] };
}

/** Under what the speed of a model placed so is remembered. */
export const devicesOf = ({ kind, shares, served }: Placement): string =>
  shares.length === 1
    ? (shares[0]?.device ?? 'cpu')
    : [kind, ...(isByUse({ served }) ? ['by_use'] : []), ...shares.map(({ device }) => device)].join(' ');

/** The engine's own cut (native share_out): whole units, each to whoever lacks most. */
export function shareOut(units: number, weights: readonly number[]): number[] {
  const sum = total(weights);
  const counts = weights.map(() => 1);
  const lack = weights.map((weight) => (units * weight) / sum - 1);
  for (let given = counts.length; given < units; given += 1) {
    const most = lack.reduce((best, each, index) => (each > (lack[best] ?? 0) + 1e-9 ? index : best), 0);
    counts[most] = (counts[most] ?? 0) + 1;
    lack[most] = (lack[most] ?? 0) - 1;
  }
  return counts;
}

/** Of a conversation's bytes, the part of each device; and all of them together against those of one device: blocks are as large as the
 * fullest group of layers on a device needs them. */
export function kvOf({ kind, shares }: Placement, plan: MemoryPlan): { parts: number[]; scale: number } {
  if (kind === 'tensor_parallel') {
    const units = Math.max(shares.length, plan.mostShares ?? 1);
    return {
      parts: shareOut(
        units,
        shares.map(({ fraction }) => fraction),
      ).map((count) => count / units),
      scale: 1,
    };
  }
  if (kind === 'handover') return { parts: shares.map(() => 1 / shares.length), scale: shares.length };
  const { layers } = plan.parts;
  let at = 0;
  const fullest = shares.map((share) => most(layers.slice(at, (at += share.layers))));
  const all = Math.max(1, total(fullest));
  return { parts: fullest.map((count) => count / all), scale: all / Math.max(1, most(layers)) };
}

function most(layers: MemoryPlan['parts']['layers']): number {
  const counts = new Map<number, number>();
  for (const { group } of layers) counts.set(group, (counts.get(group) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
