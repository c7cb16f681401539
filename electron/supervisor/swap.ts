// Whose turn it is when models cannot be in memory together: which one comes next, which requests are still let in to one that must
// go, and about when it will go. Pure functions; what is in memory is residency.ts's, what fits is broker.ts's.

/** A model that somebody waits for. */
export interface Wanted {
  /** Asked for as such: a person waits in front of the screen. */
  explicit: boolean;
  /** When the first of those who wait for it came (ms). */
  since: number;
}

/**
 * How long requests are still let in to a model that must go for another one, counted from the first request for that other one: what
 * comes together is served together, A A B B, and not in turn. Afterwards they queue for the model's next turn, so that nobody waits for
 * more than one round of the models that are wanted: of two models, two swaps.
 */
export const BATCH_MS = 2000;

/** Models that were asked for as such first, then by the first request. */
export function nextWanted<W extends Wanted>(wanted: Iterable<W>): W | undefined {
  let best: W | undefined;
  for (const each of wanted) {
    const ahead = best && Number(each.explicit) - Number(best.explicit);
    if (!best || (ahead ? ahead > 0 : each.since < best.since)) best = each;
  }
  return best;
}

/** Whether a model that must go for `wanted` still takes requests. */
export function letsIn(wanted: Wanted, now: number): boolean {
  return now - wanted.since < BATCH_MS;
}

/** An answer that runs: what it has given, and the most that it may give. */
export interface RunningAnswer {
  tokens: number;
  maxTokens: number | undefined;
}

/** Tokens of an answer that nobody bounded, where nothing is known of the ones before. */
const USUAL_TOKENS = 400;

/** Until the slowest of `answers` has ended, at `tokensPerSecond` each, and the next model has loaded. Unknown without a speed. */
export function etaMs(
  answers: readonly RunningAnswer[],
  tokensPerSecond: number,
  usualTokens: number | undefined,
  loadMs: number,
): number | undefined {
  if (answers.length === 0) return loadMs;
  if (tokensPerSecond <= 0) return undefined;
  const usual = usualTokens ?? USUAL_TOKENS;
  const left = answers.map(({ tokens, maxTokens }) => {
    // One that is longer already than usual is taken to be half way.
    const end = Math.min(maxTokens ?? Infinity, tokens < usual ? usual : tokens * 2);
    return Math.max(0, end - tokens);
  });
  return (Math.max(...left) / tokensPerSecond) * 1000 + loadMs;
}
