// From a tree of messages to the conversation that a model is given: one branch, oldest first. Pure functions.
import type { ChatMessage } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import type { Message } from '../../contract/own';

/** The messages from the first one to `headId`; null is the empty branch. A cycle or a gap in a damaged tree ends it. */
export function branchTo(messages: readonly Message[], headId: string | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: Message[] = [];
  const seen = new Set<string>();
  for (let id = headId; id !== null && !seen.has(id);) {
    const message = byId.get(id);
    if (!message) break;
    seen.add(id);
    branch.push(message);
    id = message.parentId;
  }
  return branch.reverse();
}

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
