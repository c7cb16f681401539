// Which turns of a chat are read: the newest ones that were asked for, and fewer where they do not fit.
// A turn is a user message with everything up to the next one. Instructions at the beginning always stay. Pure functions.
import type { ChatMessage } from '../contract/chat';
import { isInstruction } from './instructions';

export interface Kept<T> {
  value: T;
  droppedTurns: number;
}

/** Where the turns begin, after the instructions. Messages before the first user message belong to the first turn. */
function turnStarts(messages: readonly ChatMessage[]): { lead: number; starts: number[] } {
  const first = messages.findIndex((message) => !isInstruction(message));
  const lead = first < 0 ? messages.length : first;
  const starts: number[] = [];
  for (let i = lead; i < messages.length; i++) {
    if (i === lead || messages[i]?.role === 'user') starts.push(i);
  }
  return { lead, starts };
}

export function countTurns(messages: readonly ChatMessage[]): number {
  return turnStarts(messages).starts.length;
}

/** The messages without their oldest `count` turns; at least the last turn stays. */
export function dropTurns(messages: readonly ChatMessage[], count: number): ChatMessage[] {
  const { lead, starts } = turnStarts(messages);
  const from = starts[Math.min(count, starts.length - 1)] ?? lead;
  return [...messages.slice(0, lead), ...messages.slice(from)];
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
