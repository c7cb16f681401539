// Where each part of a model would go, in one sentence. Pure.
import type { Placement } from '@contract/models';
import type { Language, Translate } from '../i18n';
import { bytes } from '../parts/format';

export function placementWords(t: Translate, { kind, shares, spareBytes }: Placement, language: Language): string {
  const cards = shares.filter((share) => share.kind === 'gpu');
  const inRam = shares.filter((share) => share.kind === 'cpu');
  if (kind === 'handover') return handoverWords(t, shares);
  const sum = (some: readonly { weightBytes: number }[]) => some.reduce((all, { weightBytes }) => all + weightBytes, 0);
  return t(`placement.${kind}`, {
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
