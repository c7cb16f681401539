// From the branch in view to the conversation that a model is given. Pure functions.
import type { ChatMessage } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import type { Message } from '../../contract/own';

/** Answers without a word (failed, stopped at once) say nothing and are left out. */
export function conversation(branch: readonly Message[], instructions: string): ChatMessage[] {
  const system: ChatMessage[] = instructions.trim() === '' ? [] : [{ role: 'system', content: instructions }];
  const said = branch.filter((message) => message.role === 'user' || message.text !== '');
  return [
    ...system,
    ...said.map(({ role, text, reasoning }) => ({ role, content: text, ...(reasoning !== '' && { reasoning }) })),
  ];
}

/** The question that is answered again: the message itself, or the one that a given answer belongs to. Throws `not_found`. */
export function questionOf(messages: readonly Message[], id: string): Message {
  const message = messages.find((entry) => entry.id === id);
  const question = message?.role === 'assistant' ? messages.find((entry) => entry.id === message.parentId) : message;
  if (question?.role !== 'user')
    throw new HearthError('not_found', 'There is no question that could be answered again.');
  return question;
}
