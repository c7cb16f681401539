// Where each part of a model would go, in one sentence. Pure.
import type { Placement } from '@contract/models';
import type { Language, Translate } from '../i18n';
import { bytes } from '../parts/format';

/** With its own words where the most used experts of a layer are on the card and the others in memory. */
function keyOf({ kind, served = [] }: Placement) {
  const byUse = served.some(({ experts }) => experts);
  if (byUse && (kind === 'experts_in_ram' || kind === 'layers_and_experts_in_ram' || kind === 'gpus_and_ram'))
    return `placement.${kind}.by_use` as const;
  return `placement.${kind as Exclude<typeof kind, 'handover'>}` as const;
}

export function placementWords(t: Translate, placement: Placement, language: Language): string {
  const { kind, shares, spareBytes } = placement;
  const cards = shares.filter((share) => share.kind === 'gpu');
  const inRam = shares.filter((share) => share.kind === 'cpu');
  if (kind === 'handover') return handoverWords(t, shares);
  const sum = (some: readonly { weightBytes: number }[]) => some.reduce((all, { weightBytes }) => all + weightBytes, 0);
  return t(keyOf(placement), {
    cards: new Intl.ListFormat(language, { type: 'conjunction' }).format(cards.map(({ name }) => name)),
    count: inRam.reduce((all, { layers }) => all + layers, 0),
    inRam: bytes(sum(inRam), language),
    spare: bytes(spareBytes, language),
  });
}

/** The processor has no name of its own. */
function handoverWords(t: Translate, [reads, writes]: Placement['shares']): string {
  const key = reads?.kind === 'cpu' ? 'from_processor' : writes?.kind === 'cpu' ? 'to_processor' : 'between_cards';
  return t(`placement.handover.${key}`, { reads: reads?.name ?? '', writes: writes?.name ?? '' });
}
