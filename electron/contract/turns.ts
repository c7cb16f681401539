// What a turn of a chat is, and the chat without its oldest ones: one rule for the runtime, which counts tokens, and for engines elsewhere,
// where nobody here can. A turn is a user message with everything up to the next one; instructions at the beginning always stay.
import type { ChatMessage } from './chat';

export const isInstruction = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer';

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
