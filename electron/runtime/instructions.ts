// Which messages of a chat are instructions for the model, and what those at its beginning say together. Pure functions.
import type { ChatMessage } from '../contract/chat';
import { isInstruction } from '../contract/turns';

/** The instructions that a chat begins with as one text ('': none), and the messages after them. */
export function splitInstructions(messages: readonly ChatMessage[]): {
  instructions: string;
  rest: readonly ChatMessage[];
} {
  const first = messages.findIndex((message) => !isInstruction(message));
  const lead = first < 0 ? messages.length : first;
  const texts = messages.slice(0, lead).map(({ content }) => content);
  return { instructions: texts.filter((text) => text !== '').join('\n\n'), rest: messages.slice(lead) };
}
