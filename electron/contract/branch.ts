// What `headId` of a chat means: which of its messages are in view. One rule for the server, which sends them to the model, and the page.
import type { Message } from './own';

/** The messages from the first one to `headId`; null is the empty branch. A cycle or a gap in a damaged tree ends it. */
export function branchOf(messages: readonly Message[], headId: string | null): Message[] {
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
