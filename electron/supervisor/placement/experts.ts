// Which experts of some layers stay beside their layers, and which find no room there and go to the machine's memory. Several ways are
// weighed. It knows sizes and counts of use, and no device.
import type { ServedLayer } from '../../contract/runtime';
import { total, type Sizes, type UsedExpert } from './sizes';

export interface Kept {
  /** Experts that stay; their bytes, and what of the bytes of all they stand for in what tokens read. */
  experts: number;
  bytes: number;
  reads: number;
  /** Layers of whose experts not all stay, with those that go; without a list: all of them. */
  served: ServedLayer[];
}

/** Layers in a row, from `first` on, and the bytes that there are for their experts. */
interface Span {
  first: number;
  count: number;
  bytes: number;
}

/** Other experts than at the last load are worth it where they save so much: what is kept of conversations goes by which experts were where. */
const WORTH = 0.95;
/** So many numbers of layers that lose experts are weighed. */
const MOST_WAYS = 6;

interface Stays {
  experts: number;
  bytes: number;
  reads: number;
}

/** Told of each expert that goes; without one, of a layer with all its experts. */
type Goes = (layer: number, expert?: number) => void;

type Way = (goes: Goes) => Stays;

/**
 * The best way by what decoding takes: `secondsOf` is given the bytes that reads stand for here, and the number of layers of which something goes. Where
 * nobody knows which experts are used, whole layers in order.
 */
export function keep(sizes: Sizes, span: Span, secondsOf: (reads: number, layers: number) => number): Kept {
  const timed = (way: Way) => {
    const gone = new Uint8Array(sizes.layers.length);
    const { reads, bytes } = way((layer) => (gone[layer] = 1));
    return { way, bytes, seconds: secondsOf(reads, total([...gone])) };
  };
  const ways = [inOrder(sizes, span), ...parted(sizes, span).map((flags) => byUse(sizes, span, flags))].map(timed);
  const best = ways.reduce((one, two) => (two.seconds < one.seconds ? two : one));
  const before = ways.length > 1 ? timed(asBefore(sizes, span)) : best;
  const stays = before.bytes <= span.bytes && best.seconds > WORTH * before.seconds;
  return told(stays ? before.way : best.way, sizes.expertCount);
}

/** A way with the lists of what goes. */
function told(way: Way, expertCount: number): Kept {
  const gone = new Map<number, number[]>();
  const stays = way((layer, expert) => {
    const others = gone.get(layer) ?? [];
    if (expert !== undefined) others.push(expert);
    gone.set(layer, others);
  });
  const isWhole = ({ length }: number[]) => length === 0 || length === expertCount;
  const served = [...gone]
    .sort(([one], [two]) => one - two)
    .map(([layer, experts]) => (isWhole(experts) ? { layer } : { layer, experts: experts.sort((a, b) => a - b) }));
  return { ...stays, served };
}

const expertsOf = ({ layers }: Sizes, { first, count }: Omit<Span, 'bytes'>): { layer: number; bytes: number }[] =>
  layers
    .slice(first, first + count)
    .map(({ experts }, index) => ({ layer: first + index, bytes: experts }))
    .filter(({ bytes }) => bytes > 0);

const inOrder =
  (sizes: Sizes, span: Span): Way =>
  (goes) => {
    const stays: Stays = { experts: 0, bytes: 0, reads: 0 };
    let full = false;
    for (const { layer, bytes } of expertsOf(sizes, span)) {
      full ||= stays.bytes + bytes > span.bytes;
      if (full) goes(layer);
      else add(stays, sizes.expertCount, bytes, bytes);
    }
    return stays;
  };

/** The same experts go as at the last load. */
const asBefore =
  (sizes: Sizes, span: Span): Way =>
  (goes) => {
    const gone = new Map(sizes.before.map(({ layer, experts }) => [layer, experts && new Set(experts)]));
    const stays: Stays = { experts: 0, bytes: 0, reads: 0 };
    const counted = new Set<number>();
    for (const { layer, expert, use } of sizes.byUse) {
      if (layer < span.first || layer >= span.first + span.count) continue;
      counted.add(layer);
      const bytes = (sizes.layers[layer]?.experts ?? 0) / sizes.expertCount;
      if (gone.has(layer) && (gone.get(layer)?.has(expert) ?? true)) goes(layer, expert);
      else add(stays, 1, bytes, bytes * use);
    }
    for (const { layer, bytes } of expertsOf(sizes, span)) {
      if (counted.has(layer)) continue;
      // Some of a layer's went, so they had been counted.
      if (gone.has(layer)) goes(layer);
      else add(stays, sizes.expertCount, bytes, bytes);
    }
    return stays;
  };

function add(stays: Stays, experts: number, bytes: number, reads: number): void {
  stays.experts += experts;
  stays.bytes += bytes;
  stays.reads += reads;
}

/** How a layer of the span is treated: stays whole, may part with its experts one by one, or only with all of them. */
type Flag = 0 | 1 | 2;

/**
 * Layers (as flags) that may lose experts, ever more of them. Each costs a way there and back, so those whose experts are used least evenly
 * come first; those that nobody counted come last, the last one first.
 */
function parted(sizes: Sizes, span: Span): Flag[][] {
  const layers = expertsOf(sizes, span);
  let lacking = total(layers.map(({ bytes }) => bytes)) - span.bytes;
  if (lacking <= 0) return [];
  const uneven = new Map<number, number>();
  for (const { layer, use } of sizes.byUse) uneven.set(layer, (uneven.get(layer) ?? 0) + Math.abs(use - 1));
  const rank = (layer: number) => uneven.get(layer) ?? -1;
  const order = layers.toSorted((one, two) => rank(two.layer) - rank(one.layer) || two.layer - one.layer);
  if (!order[0] || !uneven.has(order[0].layer)) return [];
  let least = 0;
  while (lacking > 0) lacking -= order[least++]?.bytes ?? Infinity;
  const steps = Array.from(
    { length: MOST_WAYS },
    (_, step) => least + (step * (order.length - least)) / (MOST_WAYS - 1),
  );
  return [...new Set(steps.map(Math.round))].map((count) => {
    const flags: Flag[] = sizes.layers.map(() => 0);
    for (const { layer } of order.slice(0, count)) flags[layer] = uneven.has(layer) ? 1 : 2;
    return flags;
  });
}

/** Layers that stay whole stay first, which they can; then what is most used by the byte. A layer of unknown use is an even one. */
const byUse =
  (sizes: Sizes, span: Span, flags: readonly Flag[]): Way =>
  (goes) => {
    const stays: Stays = { experts: 0, bytes: 0, reads: 0 };
    const weights = sizes.layers.map(({ experts }) => experts / sizes.expertCount);
    const inSpan = expertsOf(sizes, span);
    let next = 0;
    const downTo = (least: number) => {
      for (; (sizes.byUse[next]?.use ?? -1) >= least; next += 1) {
        const { layer, expert, use } = sizes.byUse[next] as UsedExpert;
        if (flags[layer] !== 1) continue;
        const bytes = weights[layer] ?? 0;
        if (stays.bytes + bytes > span.bytes) goes(layer, expert);
        else add(stays, 1, bytes, bytes * use);
      }
    };
    for (const { layer, bytes } of inSpan) if (flags[layer] === 0) add(stays, sizes.expertCount, bytes, bytes);
    downTo(1);
    for (const { layer, bytes } of inSpan) {
      if (flags[layer] !== 2) continue;
      if (stays.bytes + bytes > span.bytes) goes(layer);
      else add(stays, sizes.expertCount, bytes, bytes);
    }
    downTo(0);
    return stays;
  };
