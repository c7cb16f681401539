// Layers in a row over devices, with the experts that find no room (experts.ts) in the machine's memory. Every way to cut the row is
// weighed. It knows sizes and rooms, and no device.
import type { ServedLayer } from '../../contract/runtime';
import { keep } from './experts';
import { kvOn, total, type Sizes } from './sizes';
import { fixedSeconds, opsSeconds, readSeconds } from './speed';
import type { PlaceDevice, Placement, PlacementKind, Share } from './types';

/** Of the cuts that are tried, the fastest are weighed by what is known of experts' use. */
const BEST_CUTS = 4;

/** How many layers each of `parts` devices gets: all ways, or, where those are more than `most`, ways in steps of a few layers. */
function* cuts(layers: number, parts: number, most: number): Generator<number[]> {
  let step = 1;
  while (ways(Math.floor(layers / step), parts) > most && Math.floor(layers / (step + 1)) >= parts) step += 1;
  for (const steps of splits(Math.floor(layers / step), parts)) {
    yield steps.map((count, index) => count * step + (index === parts - 1 ? layers % step : 0));
  }
}

function* splits(layers: number, parts: number): Generator<number[]> {
  if (parts === 1) yield [layers];
  else
    for (let first = 1; first <= layers - parts + 1; first += 1) {
      for (const rest of splits(layers - first, parts - 1)) yield [first, ...rest];
    }
}

/** Layers - 1 places to cut at, of which parts - 1 are taken. */
function ways(layers: number, parts: number): number {
  let count = 1;
  for (let cut = 1; cut < parts; cut += 1) count = (count * (layers - cut)) / cut;
  return count;
}

/** One layer given to the device beside. */
function beside(counts: readonly number[]): number[][] {
  const moved = (from: number, to: number) =>
    counts.map((count, index) => count + (index === to ? 1 : 0) - (index === from ? 1 : 0));
  return counts
    .slice(1)
    .flatMap((_, index) => [moved(index, index + 1), moved(index + 1, index)])
    .filter((each) => Math.min(...each) > 0);
}

interface Held {
  share: Share;
  /** Bytes that a token reads here, and of those the weights that it meets in a prompt. */
  reads: number;
  computes: number;
  /** Experts left over for the machine's memory. */
  left: { bytes: number; reads: number; served: ServedLayer[] };
}

/** One device with `count` layers from `at` on; undefined where what cannot go elsewhere does not fit. */
function hold(device: PlaceDevice, [at, count]: [number, number], sizes: Sizes, cpu: PlaceDevice): Held | undefined {
  const layers = sizes.layers.slice(at, at + count);
  const first = at === 0;
  const shared = total(layers.map((layer) => layer.shared)) + (first ? sizes.embedding + sizes.output : 0);
  const experts = total(layers.map((layer) => layer.experts));
  const kvBytes = kvOn(layers, sizes.kvPerLayer);
  const scratch = sizes.scratch[device.kind === 'gpu' && !first ? 'row' : device.kind];
  const free = device.roomBytes - shared - kvBytes - scratch;
  if (free < 0) return undefined;
  const used = sizes.expertsUsed / sizes.expertCount;
  const secondsOf = (reads: number, expertLayers: number) =>
    readSeconds(reads * used, device.bytesPerSecond) +
    readSeconds((experts - reads) * used, cpu.bytesPerSecond) +
    fixedSeconds({ gpuLayers: 0, hops: 0, expertLayers, sums: 0 });
  const here = keep(sizes, { first: at, count, bytes: free }, secondsOf);
  // The processor has no other memory to put them into.
  if (device.kind === 'cpu' && here.served.length > 0) return undefined;
  const spoken = kvOn(layers, sizes.spokenPerLayer);
  const reads = shared - (first ? sizes.embedding : 0) + here.reads * used + spoken;
  return {
    share: {
      device: device.id,
      name: device.name,
      kind: device.kind,
      layers: layers.length,
      fraction: 1,
      experts: here.experts,
      weightBytes: shared + here.bytes,
      kvBytes,
      scratchBytes: scratch,
    },
    reads,
    computes: total(layers.map((layer) => layer.shared)) + here.reads * used,
    left: {
      bytes: here.served.length > 0 ? experts - here.bytes : 0,
      reads: Math.max(0, experts - here.reads) * used,
      served: here.served,
    },
  };
}

function kindOf(shares: readonly Share[], inRam: boolean): PlacementKind {
  const cards = shares.filter(({ kind }) => kind === 'gpu').length;
  const layersInRam = shares.some(({ kind }) => kind === 'cpu');
  if (cards === 0) return 'cpu';
  if (cards > 1) return inRam || layersInRam ? 'gpus_and_ram' : 'layer_split';
  if (layersInRam) return inRam ? 'layers_and_experts_in_ram' : 'layers_in_ram';
  return inRam ? 'experts_in_ram' : 'gpu';
}

/** Devices with their layers; the experts that are left over go to `cpu`. Undefined where it does not fit. */
function assemble(
  devices: readonly PlaceDevice[],
  counts: readonly number[],
  sizes: Sizes,
  cpu: PlaceDevice,
): Placement | undefined {
  const held: Held[] = [];
  let at = 0;
  for (const [index, device] of devices.entries()) {
    const count = counts[index] ?? 0;
    const one = hold(device, [at, count], sizes, cpu);
    if (!one) return undefined;
    held.push(one);
    at += count;
  }
  const left = {
    bytes: total(held.map(({ left: { bytes } }) => bytes)),
    reads: total(held.map(({ left: { reads } }) => reads)),
  };
  const served = held.flatMap((each) => each.left.served);
  const shares = withExperts(
    held.map(({ share }) => share),
    left,
    sizes,
    cpu,
  );
  const spareBytes = spareOf(shares, [...devices, cpu]);
  if (spareBytes < 0) return undefined;
  const cards = held.filter(({ share }) => share.kind === 'gpu');
  const seconds =
    total(held.map(({ reads }, index) => readSeconds(reads, devices[index]?.bytesPerSecond ?? 1))) +
    readSeconds(left.reads, cpu.bytesPerSecond) +
    fixedSeconds({
      gpuLayers: total(cards.map(({ share }) => share.layers)),
      hops: devices.length - 1,
      expertLayers: served.length,
      sums: 0,
    });
  return {
    kind: kindOf(
      held.map(({ share }) => share),
      served.length > 0,
    ),
    shares,
    ...(served.length > 0 && { served }),
    decodeTps: 1 / seconds,
    prefillTps: 1 / prefillSeconds(held, left.reads, devices, sizes, cpu),
    spareBytes,
  };
}

/** Of one token of a long prompt: pieces follow each other through the row, so the slowest device has the word. */
function prefillSeconds(
  held: readonly Held[],
  left: number,
  devices: readonly PlaceDevice[],
  { opsPerByte }: Sizes,
  cpu: PlaceDevice,
): number {
  const each = held.map(({ computes }, index) => opsSeconds(computes * opsPerByte, devices[index]?.opsPerSecond ?? 1));
  return Math.max(...each, opsSeconds(left * opsPerByte, cpu.opsPerSecond));
}

function withExperts(shares: Share[], left: { bytes: number }, sizes: Sizes, cpu: PlaceDevice): Share[] {
  if (left.bytes === 0) return shares;
  const experts =
    total(sizes.layers.map((layer) => (layer.experts > 0 ? sizes.expertCount : 0))) -
    total(shares.map((share) => share.experts));
  const there = shares.find(({ kind }) => kind === 'cpu');
  if (there) {
    return shares.map((share) =>
      share === there
        ? { ...there, experts: there.experts + experts, weightBytes: there.weightBytes + left.bytes }
        : share,
    );
  }
  const { id: device, name, kind } = cpu;
  return [
    ...shares,
    {
      device,
      name,
      kind,
      layers: 0,
      fraction: 1,
      experts,
      weightBytes: left.bytes,
      kvBytes: 0,
      scratchBytes: sizes.scratch.cpu,
    },
  ];
}

/** The least that is left anywhere. Devices whose memory is the machine's take from the processor's room. */
export function spareOf(shares: readonly Share[], devices: readonly PlaceDevice[]): number {
  const taken = (share: Share) => share.weightBytes + share.kvBytes + share.scratchBytes;
  const of = (device: PlaceDevice) => total(shares.filter((share) => share.device === device.id).map(taken));
  let machine = 0;
  const spares: number[] = [];
  for (const device of new Map(devices.map((each) => [each.id, each])).values()) {
    const bytes = of(device);
    if (bytes === 0) continue;
    spares.push(device.roomBytes - bytes);
    if (device.kind === 'cpu' || device.unified) machine += bytes;
  }
  const cpu = devices.find(({ kind }) => kind === 'cpu');
  if (cpu && machine > 0) spares.push(cpu.roomBytes - machine);
  return Math.min(...spares);
}

/**
 * The fastest way to lay the layers out over exactly these devices, in this order, of about `most` that are tried: from the best of those in
 * steps one goes on layer by layer. Which experts are used most is asked of the best cuts alone.
 */
export function inARow(
  devices: readonly PlaceDevice[],
  sizes: Sizes,
  cpu: PlaceDevice,
  most = Infinity,
): Placement | undefined {
  if (devices.length > sizes.layers.length) return undefined;
  const unknown = { ...sizes, byUse: [] };
  const tried = new Set<string>();
  let best: { counts: number[]; placement: Placement }[] = [];
  const weigh = (counts: number[]) => {
    if (tried.has(counts.join())) return;
    tried.add(counts.join());
    const placement = assemble(devices, counts, unknown, cpu);
    if (!placement || placement.decodeTps <= (best[BEST_CUTS - 1]?.placement.decodeTps ?? 0)) return;
    best = [...best, { counts, placement }].sort((one, two) => two.placement.decodeTps - one.placement.decodeTps);
    best.length = Math.min(best.length, BEST_CUTS);
  };
  for (const counts of cuts(sizes.layers.length, devices.length, most)) weigh(counts);
  for (let at = best[0], before; at && at !== before; [before, at] = [at, best[0]]) beside(at.counts).forEach(weigh);
  const [first, ...others] = best.map(({ counts, placement }) =>
    sizes.byUse.length > 0 && placement.served ? (assemble(devices, counts, sizes, cpu) ?? placement) : placement,
  );
  return others.reduce((one, two) => (one && two.decodeTps > one.decodeTps ? two : one), first);
}
