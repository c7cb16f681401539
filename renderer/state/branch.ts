// The tree of a chat's messages: which are versions of each other, and where the branch through one of them ends. Pure.
import type { Message } from '@contract/own';

/** All versions beside `message`, itself included, oldest first. */
export function versionsOf(messages: readonly Message[], message: Message): Message[] {
  return messages
    .filter((other) => other.parentId === message.parentId && other.role === message.role)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** The newest end of the branch that goes through `id`. */
export function headThrough(messages: readonly Message[], id: string): string {
  let head = id;
  for (let steps = 0; steps <= messages.length; steps++) {
    const children = messages.filter((message) => message.parentId === head);
    const newest = children.sort((a, b) => b.createdAt - a.createdAt)[0];
    if (!newest) return head;
    head = newest.id;
  }
  return head;
}
