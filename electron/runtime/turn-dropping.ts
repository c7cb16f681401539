// Which turns of a chat are read: the newest ones that were asked for, and fewer where they do not fit. Pure functions; what a turn is, the
// contract says.
import type { ChatMessage } from '../contract/chat';
import { countTurns, dropTurns } from '../contract/turns';

export interface Kept<T> {
  value: T;
  droppedTurns: number;
}

/**
 * Drops as few of the oldest turns as the limits ask for. `build` renders what is left, about log2(turns) times; `length` counts it
 * in tokens. Where even the last turn is too long, that one is given back and the caller refuses it.
 */
export function fitTurns<T>(
  messages: readonly ChatMessage[],
  limits: { keepTurns?: number; maxTokens?: number },
  build: (messages: ChatMessage[]) => T,
  length: (value: T) => number,
): Kept<T> {
  const turns = countTurns(messages);
  const least = limits.keepTurns === undefined ? 0 : Math.max(0, turns - limits.keepTurns);
  const at = (dropped: number): Kept<T> => ({ value: build(dropTurns(messages, dropped)), droppedTurns: dropped });
  const fits = (kept: Kept<T>) => limits.maxTokens === undefined || length(kept.value) <= limits.maxTokens;
  let best = at(least);
  if (fits(best) || turns === 0) return best;
  // The smallest number of dropped turns that fits lies in (low, high].
  let low = least;
  let high = turns - 1;
  best = at(high);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const kept = at(middle);
    if (fits(kept)) {
      high = middle;
      best = kept;
    } else low = middle;
  }
  return best;
}
