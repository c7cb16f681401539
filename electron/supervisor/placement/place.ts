// Every plan for a model on these devices that fits, the fastest first. Pure.
import { handedOver } from './handover';
import { inARow } from './layers';
import type { Sizes } from './sizes';
import { turnSeconds } from './speed';
import { sharedOut } from './tensors';
import type { PlaceDevice, Placement } from './types';

const MOST_RANKS = 4;
/** Cuts of layers that are tried for one plan, over all rows of devices: about a tenth of a second. */
const MOST_CUTS = 4000;

export interface Machine {
  cpu: PlaceDevice;
  gpus: readonly PlaceDevice[];
}

/** All choices of one to `most` of the cards, each in order of bandwidth; of choices that differ in names alone the first. */
function subsets(gpus: readonly PlaceDevice[], most: number): PlaceDevice[][] {
  const sorted = [...gpus].sort((one, two) => two.bytesPerSecond - one.bytesPerSecond);
  const all = sorted
    .reduce<PlaceDevice[][]>((sets, gpu) => [...sets, ...sets.map((set) => [...set, gpu])], [[]])
    .filter(({ length }) => length > 0 && length <= most);
  const alike = (set: PlaceDevice[]) => JSON.stringify(set.map((device) => ({ ...device, id: '', name: '' })));
  return [...new Map(all.toReversed().map((set) => [alike(set), set])).values()].toReversed();
}

const pairs = (devices: readonly PlaceDevice[]): [PlaceDevice, PlaceDevice][] =>
  devices.flatMap((one) => devices.filter((two) => two !== one).map((two): [PlaceDevice, PlaceDevice] => [one, two]));

/** `most`: of cards that work together. */
export function placements(sizes: Sizes, { cpu, gpus }: Machine, most = MOST_RANKS): Placement[] {
  const found: (Placement | undefined)[] = [inARow([cpu], sizes, cpu)];
  const sets = subsets(gpus, most);
  const each = MOST_CUTS / (2 * sets.length);
  for (const cards of sets) {
    found.push(inARow(cards, sizes, cpu, each), inARow([...cards, cpu], sizes, cpu, each));
    if (cards.length > 1) found.push(sharedOut(cards, sizes));
  }
  if (most > 1) found.push(...pairs([...gpus, cpu]).map((pair) => handedOver(pair, sizes, cpu)));
  return found
    .filter((placement) => placement !== undefined)
    .sort((one, two) => two.decodeTps - one.decodeTps || one.shares.length - two.shares.length);
}

/** Less of a gain is not worth a further device: what was reckoned is not known so well. */
const WORTH = 0.9;

/**
 * Of plans that are about as fast as the fastest, the one on fewest devices; undefined where nothing fits. Speed is that of writing; a
 * prompt is handed over where a whole turn gains by it.
 */
export function preferred(all: readonly Placement[]): Placement | undefined {
  const usual = onFewest(all.filter(({ kind }) => kind !== 'handover'));
  const [handed] = all
    .filter(({ kind }) => kind === 'handover')
    .sort((one, two) => turnSeconds(one) - turnSeconds(two));
  return handed && (!usual || turnSeconds(handed) < WORTH * turnSeconds(usual)) ? handed : usual;
}

function onFewest(all: readonly Placement[]): Placement | undefined {
  const near = all.filter(({ decodeTps }) => decodeTps >= WORTH * (all[0]?.decodeTps ?? 0));
  return near.reduce<Placement | undefined>(
    (best, each) => (best && best.shares.length <= each.shares.length ? best : each),
    undefined,
  );
}
