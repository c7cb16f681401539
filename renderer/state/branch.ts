// The tree of a chat's messages: which branch is in view, and which messages are versions of each other. Pure.
import type { Message } from '@contract/own';

/** From the first message to `headId`. A broken parent chain ends early instead of failing; a loop is cut. */
export function branchOf(messages: readonly Message[], headId: string | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: Message[] = [];
  const seen = new Set<string>();
  let id = headId;
  while (id !== null && !seen.has(id)) {
    const message = byId.get(id);
    if (!message) break;
    seen.add(id);
    branch.push(message);
    id = message.parentId;
  }
  return branch.reverse();
}

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
