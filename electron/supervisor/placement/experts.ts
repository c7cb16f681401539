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

/** More ways to choose the layers that are parted are not weighed. */
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
  const ways: Way[] = [inOrder(sizes, span), ...parted(sizes, span).map((layers) => byUse(sizes, span, layers))];
  const timed = ways.map((way) => {
    const gone = new Uint8Array(sizes.layers.length);
    const { reads } = way((layer) => (gone[layer] = 1));
    return { way, seconds: secondsOf(reads, total([...gone])) };
  });
  return told(timed.reduce((best, each) => (each.seconds < best.seconds ? each : best)).way, sizes.expertCount);
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

function add(stays: Stays, experts: number, bytes: number, reads: number): void {
  stays.experts += experts;
  stays.bytes += bytes;
  stays.reads += reads;
}

/**
 * Layers (as flags) that may have experts in two places. Each costs a way there and back, so those whose experts are used least evenly
 * come first.
 */
function parted(sizes: Sizes, { first, count, bytes }: Span): Uint8Array[] {
  if (total(expertsOf(sizes, { first, count }).map((each) => each.bytes)) <= bytes) return [];
  const uneven = new Map<number, number>();
  for (const { layer, use } of sizes.byUse)
    if (layer >= first && layer < first + count) uneven.set(layer, (uneven.get(layer) ?? 0) + Math.abs(use - 1));
  const order = [...uneven].sort(([, one], [, two]) => two - one).map(([layer]) => layer);
  const ways = Math.min(MOST_WAYS, order.length);
  return Array.from({ length: ways }, (_, way) => {
    const flags = new Uint8Array(sizes.layers.length);
    for (const layer of order.slice(0, Math.ceil(((way + 1) * order.length) / ways))) flags[layer] = 1;
    return flags;
  });
}

/** What is most used by the byte stays: of layers that are parted expert by expert, between them the other layers, whole. */
const byUse =
  (sizes: Sizes, span: Span, flags: Uint8Array): Way =>
  (goes) => {
    const stays: Stays = { experts: 0, bytes: 0, reads: 0 };
    const weights = sizes.layers.map(({ experts }) => experts / sizes.expertCount);
    let next = 0;
    const downTo = (least: number) => {
      for (; (sizes.byUse[next]?.use ?? -1) >= least; next += 1) {
        const { layer, expert, use } = sizes.byUse[next] as UsedExpert;
        if (flags[layer] === 0) continue;
        const bytes = weights[layer] ?? 0;
        if (stays.bytes + bytes > span.bytes) goes(layer, expert);
        else add(stays, 1, bytes, bytes * use);
      }
    };
    downTo(1);
    for (const { layer, bytes } of expertsOf(sizes, span)) {
      if (flags[layer] === 1) continue;
      if (stays.bytes + bytes > span.bytes) goes(layer);
      else add(stays, sizes.expertCount, bytes, bytes);
    }
    downTo(0);
    return stays;
  };
