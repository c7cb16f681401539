// Every layer shared out over devices that work on it at the same time, in shares by bandwidth, as far as each has room.
import { kvOn, total, type Sizes } from './sizes';
import { fixedSeconds, opsSeconds, readSeconds } from './speed';
import type { PlaceDevice, Placement, Share } from './types';

/** Heads and groups of 32 do not divide as one likes: so much of its room a device keeps for what that adds. */
const RAGGED_SHARE = 0.02;

/** Fractions by bandwidth, none above what its device holds; undefined where all together hold less than the whole. */
export function fractionsOf(
  devices: readonly { bytesPerSecond: number }[],
  most: readonly number[],
): number[] | undefined {
  if (total(most) < 1) return undefined;
  const fractions = devices.map(() => 0);
  let open = devices.map((_, index) => index);
  let left = 1;
  while (open.length > 0) {
    const speed = total(open.map((index) => devices[index]?.bytesPerSecond ?? 0));
    const wanted = (index: number) => (left * (devices[index]?.bytesPerSecond ?? 0)) / speed;
    const full = open.filter((index) => wanted(index) > (most[index] ?? 0));
    for (const index of full.length > 0 ? full : open) {
      fractions[index] = full.length > 0 ? (most[index] ?? 0) : wanted(index);
    }
    if (full.length === 0) return fractions;
    left = 1 - total(fractions);
    open = open.filter((index) => !full.includes(index));
  }
  return fractions;
}

export function sharedOut(devices: readonly PlaceDevice[], sizes: Sizes): Placement | undefined {
  if (devices.length > sizes.mostShares) return undefined;
  const weights = total(sizes.layers.map(({ shared, experts }) => shared + experts)) + sizes.output;
  const kv = kvOn(sizes.layers, sizes.kvPerLayer);
  // The embedding is on the first; of the heads a device may have one more than its fraction.
  const table = (index: number) => (index === 0 ? sizes.embedding : 0);
  const { share: each, gpu: whole } = sizes.scratch;
  const scratch = (fraction: number) => each + (whole - each) * fraction;
  const room = ({ roomBytes }: PlaceDevice, index: number) =>
    Math.max(0, roomBytes * (1 - RAGGED_SHARE) - scratch(0) - table(index) - kv / sizes.mostShares);
  const fractions = fractionsOf(
    devices,
    devices.map((device, index) => room(device, index) / (weights + kv + scratch(1) - scratch(0))),
  );
  if (!fractions) return undefined;
  const used = sizes.expertsUsed / sizes.expertCount;
  const experts = total(sizes.layers.map((layer) => layer.experts));
  const reads = weights - experts * (1 - used) + kvOn(sizes.layers, sizes.spokenPerLayer);
  const shares = devices.map(({ id, name, kind }, index): Share => {
    const fraction = fractions[index] ?? 0;
    return {
      device: id,
      name,
      kind,
      layers: sizes.layers.length,
      fraction,
      experts: experts > 0 ? sizes.layers.length * sizes.expertCount : 0,
      weightBytes: weights * fraction + table(index),
      kvBytes: kv * fraction,
      scratchBytes: scratch(fraction),
    };
  });
  const slowest = Math.max(
    ...devices.map(({ bytesPerSecond }, i) => readSeconds(reads * (fractions[i] ?? 0), bytesPerSecond)),
  );
  const layers = sizes.layers.length;
  const seconds = slowest + fixedSeconds({ gpuLayers: layers, hops: 0, expertLayers: 0, sums: 2 * layers });
  const spareBytes = Math.min(
    ...devices.map(
      ({ roomBytes }, i) => roomBytes - scratch(fractions[i] ?? 0) - table(i) - (weights + kv) * (fractions[i] ?? 0),
    ),
  );
  const computes = (reads - sizes.output - kvOn(sizes.layers, sizes.spokenPerLayer)) * sizes.opsPerByte;
  const prefillSeconds = Math.max(
    ...devices.map(({ opsPerSecond }, i) => opsSeconds(computes * (fractions[i] ?? 0), opsPerSecond)),
  );
  const speeds = { decodeTps: 1 / seconds, prefillTps: 1 / prefillSeconds };
  return { kind: 'tensor_parallel', shares, ...speeds, spareBytes };
}
