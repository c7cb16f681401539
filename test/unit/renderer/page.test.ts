// The way back to the chat that was open: looking at another page must not lose it.
import { beforeEach, describe, expect, it } from 'vitest';
import { chatHref, parsePage } from '../../../renderer/state/page';

async function visit(hash: string): Promise<void> {
  const arrived = new Promise((resolve) => window.addEventListener('hashchange', resolve, { once: true }));
  location.hash = hash;
  await arrived;
}

describe('the link to the chats', () => {
  beforeEach(() => visit(`#/settings/${Math.random()}`));

  it('leads back to the chat that was open before another page', async () => {
    await visit('#/chat/c%2F1');
    await visit('#/models');
    expect(chatHref()).toBe('#/chat/c%2F1');
  });

  it('leads to a new chat where a new one was begun', async () => {
    await visit('#/chat/c1');
    await visit('#/chat');
    await visit('#/server');
    expect(chatHref()).toBe('#/chat');
  });
});

it('keeps the part of a page in the address, and never takes it for a chat', () => {
  expect(parsePage('#/models/discover')).toEqual({ name: 'models', chatId: undefined, part: 'discover' });
  expect(parsePage('#/chat/c1')).toEqual({ name: 'chat', chatId: 'c1', part: undefined });
});
