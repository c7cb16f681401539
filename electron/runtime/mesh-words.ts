// How several devices share a model, in few words: what an answer is depends on that, too. Pure.
import { createHash } from 'node:crypto';
import type { Mesh } from '../contract/runtime';

export function meshWords({ split, ranks, served }: Mesh): string {
  const amounts = ranks.map(({ share, layers }) => (split === 'layers' && layers > 0 ? layers : share.toFixed(2)));
  return split === 'handover' ? split : `${split} ${amounts.join(':')}${servedWords(served)}`;
}

/** Which experts are elsewhere has its part in how sums are rounded: a mark stands for the lists. */
function servedWords(served: Mesh['served']): string {
  if (served.length === 0) return '';
  const mark = createHash('sha256').update(JSON.stringify(served)).digest('hex').slice(0, 8);
  const lists = served.filter(({ experts }) => experts).length;
  return ` + experts of ${served.length} (${lists > 0 ? `some of ${lists}, ` : ''}${mark})`;
}
