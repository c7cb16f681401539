// Chats and messages for the tests of the store.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { chatSettings, type Chat, type Message } from '../../../electron/contract/own';
import { openStore } from '../../../electron/store/open';

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function temporaryStore(path = join(temporaryFolder(), 'hearth.db'), flushMs?: number) {
  const store = await openStore({ path, ...(flushMs !== undefined && { flushMs }) });
  onTestFinished(() => store.close());
  return store;
}

export function sampleChat(fields: Partial<Chat> = {}): Chat {
  return {
    id: randomUUID(),
    title: 'Boats',
    createdAt: 1000,
    updatedAt: 1000,
    deletedAt: null,
    headId: null,
    settings: chatSettings.parse({}),
    date: '2026-11-29',
    ...fields,
  };
}

export function sampleMessage(chatId: string, fields: Partial<Message> = {}): Message {
  return {
    id: randomUUID(),
    chatId,
    parentId: null,
    role: 'user',
    text: '',
    reasoning: '',
    status: 'complete',
    createdAt: 2000,
    ...fields,
  };
}

/** A chat with one question and an answer that is being written. */
export function sampleTurn(chatId: string, question = 'What floats?') {
  const user = sampleMessage(chatId, { text: question });
  const assistant = sampleMessage(chatId, { role: 'assistant', parentId: user.id, status: 'streaming' });
  return { user, assistant };
}
