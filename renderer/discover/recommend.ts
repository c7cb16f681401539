// Which file of a model is offered first: the best quality that fits and still writes at a readable pace. Pure.
import type { HubFile, Verdict } from '@contract/models';

/** Tokens per second: about four words, as fast as one reads with care. */
const READABLE_TPS = 5;

/** "Best" costs twice the memory of "very good" and can hardly be told from it. */
const QUALITY: Record<HubFile['quality'], number> = { very_good: 3, best: 2, good: 1, small: 0 };
const FIT: Record<Verdict, number> = { fits: 3, tight: 2, unknown: 1, too_big: 0 };

const fitOf = (file: HubFile): Verdict => file.fit?.verdict ?? 'unknown';
const isReadable = (file: HubFile): boolean => (file.fit?.decodeTps ?? READABLE_TPS) >= READABLE_TPS;

export function recommendedFile(files: readonly HubFile[]): HubFile | undefined {
  return [...files].sort(byMerit)[0];
}

function byMerit(a: HubFile, b: HubFile): number {
  const here = Number(b.local !== undefined) - Number(a.local !== undefined);
  if (here !== 0) return here;
  const fits = FIT[fitOf(b)] - FIT[fitOf(a)];
  if (fits !== 0) return fits;
  // What does not fit anyway: the one that lacks least.
  if (fitOf(a) === 'too_big') return a.bytes - b.bytes;
  return Number(isReadable(b)) - Number(isReadable(a)) || QUALITY[b.quality] - QUALITY[a.quality] || a.bytes - b.bytes;
}
