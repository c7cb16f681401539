// A process that writes an answer piece by piece and waits to be killed.
import { openStore } from '../../../electron/store/open';
import { chatSettings } from '../../../electron/contract/own';

const store = await openStore({ path: process.argv[2] ?? '' });
const base = { chatId: 'c', reasoning: '', createdAt: 1 } as const;
await store.createChat({
  id: 'c',
  title: '',
  createdAt: 1,
  updatedAt: 1,
  deletedAt: null,
  headId: null,
  settings: chatSettings.parse({}),
  date: '2026-11-29',
});
await store.beginTurn({
  chatId: 'c',
  user: { ...base, id: 'u', parentId: null, role: 'user', text: 'What floats?', status: 'complete' },
  assistant: { ...base, id: 'a', parentId: 'u', role: 'assistant', text: '', status: 'streaming' },
  at: 2,
});
for (let piece = 1; piece <= 20; piece++) {
  store.append('a', { parts: [{ channel: 'text', delta: `piece ${piece} ` }], tokenIds: [piece] });
  await new Promise((resolve) => setTimeout(resolve, 10));
}
setTimeout(() => process.send?.('c'), 300);
setInterval(() => store.append('a', { parts: [{ channel: 'text', delta: 'more ' }], tokenIds: [0] }), 10);
