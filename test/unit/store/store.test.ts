// The store as main sees it: nothing that was stored is lost, also by a process that is killed.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { closeDatabase, openDatabase } from '../../../electron/store/migrate';
import { openStore } from '../../../electron/store/open';
import { sampleChat, sampleMessage, sampleTurn, temporaryFolder, temporaryStore } from './samples';

describe('chats', () => {
  it('does not lose a chat, its settings or its order', async () => {
    const store = await temporaryStore();
    const older = sampleChat({ updatedAt: 1, title: 'older' });
    const newer = sampleChat({ updatedAt: 2, title: 'newer' });
    await store.createChat(older);
    await store.createChat(newer);
    await store.patchChat(older.id, { settings: { effort: 'high' } });
    expect((await store.listChats()).map((chat) => chat.title)).toEqual(['newer', 'older']);
    expect((await store.getChat(older.id))?.settings).toEqual({ ...older.settings, effort: 'high' });
    expect(await store.getChat('nothing')).toBeUndefined();
  });

  it('a deleted chat comes back with every message', async () => {
    const store = await temporaryStore();
    const chat = await store.createChat(sampleChat());
    const { user, assistant } = sampleTurn(chat.id);
    await store.beginTurn({ chatId: chat.id, user, assistant, at: 5 });
    await store.trashChat(chat.id, 77);
    expect(await store.listChats()).toEqual([]);
    expect((await store.listChats({ deleted: true }))[0]?.deletedAt).toBe(77);
    expect((await store.restoreChat(chat.id)).deletedAt).toBeNull();
    expect((await store.messages(chat.id)).map((message) => message.id)).toEqual([user.id, assistant.id]);
  });

  it('only chats that were deleted long ago are ended for good', async () => {
    const store = await temporaryStore();
    const [kept, recent, old] = [sampleChat(), sampleChat(), sampleChat()];
    for (const chat of [kept, recent, old]) await store.createChat(chat);
    const { user, assistant } = sampleTurn(old.id);
    await store.beginTurn({ chatId: old.id, user, assistant, at: 5 });
    await store.trashChat(recent.id, 500);
    await store.trashChat(old.id, 100);
    expect(await store.purgeChats(300)).toBe(1);
    expect(await store.messages(old.id)).toEqual([]);
    expect(await store.getChat(recent.id)).toBeDefined();
  });

  it('a head of another chat is refused, and so are unknown chats', async () => {
    const store = await temporaryStore();
    const [one, two] = [await store.createChat(sampleChat()), await store.createChat(sampleChat())];
    const { user, assistant } = sampleTurn(one.id);
    await store.beginTurn({ chatId: one.id, user, assistant, at: 5 });
    await expect(store.patchChat(two.id, { headId: user.id })).rejects.toMatchObject({ code: 'not_found' });
    await expect(store.patchChat('none', { title: 'x' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('half a turn is never stored', async () => {
    const store = await temporaryStore();
    const chat = await store.createChat(sampleChat());
    const { user, assistant } = sampleTurn(chat.id);
    const stray = { ...assistant, parentId: 'elsewhere' };
    await expect(store.beginTurn({ chatId: chat.id, user, assistant: stray, at: 5 })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await store.messages(chat.id)).toEqual([]);
  });

  it.each([
    ['a word of a title', 'oats', true],
    ['a word of an answer', 'DRIFTWOOD', true],
    ['Chinese of two characters', '木头', true],
    ['quotes and operators are only text', '" OR "', false],
    ['a percent sign is only text', '%', false],
    ['nothing', 'submarine', false],
  ])('finds chats by %s', async (_name, query, found) => {
    const store = await temporaryStore();
    const chat = await store.createChat(sampleChat());
    const { user, assistant } = sampleTurn(chat.id, '什么木头会浮？');
    await store.beginTurn({ chatId: chat.id, user, assistant, at: 5 });
    await store.finishMessage({ ...assistant, text: 'Mostly driftwood.', status: 'complete' });
    expect((await store.listChats({ query })).length).toBe(found ? 1 : 0);
  });
});

describe('growing answers', () => {
  it('what was appended is read at once, in order', async () => {
    const store = await temporaryStore();
    const chat = await store.createChat(sampleChat());
    const { user, assistant } = sampleTurn(chat.id);
    await store.beginTurn({ chatId: chat.id, user, assistant, at: 5 });
    store.append(assistant.id, { parts: [{ channel: 'reasoning', delta: 'wood?' }], tokenIds: [1] });
    store.append(assistant.id, { parts: [{ channel: 'text', delta: 'Wo' }], tokenIds: [2] });
    store.append(assistant.id, { parts: [{ channel: 'text', delta: 'od.' }], tokenIds: [70_000] });
    const [, answer] = await store.messages(chat.id);
    expect(answer).toMatchObject({ reasoning: 'wood?', text: 'Wood.', status: 'streaming' });
  });

  it('the finished message is what it is told to be, with all its details', async () => {
    const store = await temporaryStore();
    const chat = await store.createChat(sampleChat());
    const { user, assistant } = sampleTurn(chat.id);
    await store.beginTurn({ chatId: chat.id, user, assistant, at: 5 });
    store.append(assistant.id, { parts: [{ channel: 'text', delta: 'Wood' }], tokenIds: [1, 2] });
    const finished = sampleMessage(chat.id, {
      ...assistant,
      text: 'Wood, of course.',
      status: 'complete',
      finishReason: 'stop',
      usage: { promptTokens: 3, completionTokens: 2, reasoningTokens: 0, cachedTokens: 0 },
    });
    await store.finishMessage(finished);
    store.append(assistant.id, { parts: [{ channel: 'text', delta: 'late' }], tokenIds: [3] });
    expect((await store.messages(chat.id))[1]).toEqual(finished);
  });

  it('a killed process loses at most the last flush, and the answer is marked as interrupted', async () => {
    const path = join(temporaryFolder(), 'hearth.db');
    const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const child = fork(join(import.meta.dirname, 'writer.ts'), [path], { execArgv: ['--import', loader] });
    const [chatId] = (await once(child, 'message')) as [string];
    child.kill('SIGKILL');
    await once(child, 'exit');

    const store = await temporaryStore(path);
    const [question, answer] = await store.messages(chatId);
    expect(question).toMatchObject({ text: 'What floats?', status: 'complete' });
    expect(answer?.status).toBe('interrupted');
    // The writer says so 300 ms after its 20th piece; the flush is due after 250 ms.
    expect(answer?.text).toMatch(/^piece 1 piece 2 .*piece 20 /);
    // Opened once more, nothing else has changed.
    expect((await store.messages(chatId)).length).toBe(2);
  });

  it('closing writes what waits', async () => {
    const path = join(temporaryFolder(), 'hearth.db');
    const store = await openStore({ path, flushMs: 60_000 });
    const chat = await store.createChat(sampleChat());
    const { user, assistant } = sampleTurn(chat.id);
    await store.beginTurn({ chatId: chat.id, user, assistant, at: 5 });
    store.append(assistant.id, { parts: [{ channel: 'text', delta: 'Wood' }], tokenIds: [1] });
    await store.close();
    const again = await temporaryStore(path);
    expect((await again.messages(chat.id))[1]).toMatchObject({ text: 'Wood', status: 'interrupted' });
    await expect(store.settings()).rejects.toMatchObject({ code: 'database_error' });
  });
});

describe('settings, keys, measurements', () => {
  it('a setting outlives a restart and others keep their defaults', async () => {
    const path = join(temporaryFolder(), 'hearth.db');
    const store = await openStore({ path });
    await store.patchSettings({ theme: 'dark', allowedOrigins: ['http://localhost:5173'] });
    await store.close();
    const settings = await (await temporaryStore(path)).settings();
    expect(settings).toMatchObject({ theme: 'dark', language: 'auto', allowedOrigins: ['http://localhost:5173'] });
  });

  it('a key is found by its hash alone and never shown again', async () => {
    const store = await temporaryStore();
    expect(await store.checkKey('h', 1)).toEqual({ any: false });
    await store.addKey({ id: 'k1', name: 'editor', hash: 'h', hint: 'abcd', createdAt: 1 });
    expect(await store.checkKey('other', 5)).toEqual({ any: true });
    expect(await store.checkKey(undefined, 5)).toEqual({ any: true });
    expect(await store.checkKey('h', 99_000)).toEqual({ any: true, id: 'k1' });
    expect(await store.listKeys()).toEqual([
      { id: 'k1', name: 'editor', hint: 'abcd', createdAt: 1, lastUsedAt: 99_000 },
    ]);
    expect(await store.removeKey('k1')).toBe(true);
    expect(await store.checkKey('h', 5)).toEqual({ any: false });
  });

  it('uses of experts outlive a restart, take each other’s place, and are kept of the latest models alone', async () => {
    const path = join(temporaryFolder(), 'hearth.db');
    const store = await openStore({ path });
    expect(await store.expertUses('m0')).toBeUndefined();
    const layers = Array.from({ length: 36 }, () => ({
      rows: 10.2,
      experts: Array.from({ length: 128 }, (_, i) => i + 0.4),
    }));
    for (let at = 0; at <= 64; at += 1) await store.saveExpertUses({ modelId: `m${at}`, layers, served: [], at });
    const one = { layers: [{ rows: 0, experts: [] }], served: [{ layer: 0, experts: [3] }, { layer: 2 }] };
    await store.saveExpertUses({ modelId: 'm1', ...one, at: 65 });
    await store.close();
    const again = await temporaryStore(path);
    expect(await again.expertUses('m0')).toBeUndefined();
    expect(await again.expertUses('m1')).toEqual(one);
    const kept = (await again.expertUses('m2'))?.layers;
    expect(kept).toHaveLength(36);
    expect(kept?.[35]).toEqual({ rows: 10, experts: Array.from({ length: 128 }, (_, i) => i) });
  });

  it('uses of experts that are none are as if nobody had counted', async () => {
    const path = join(temporaryFolder(), 'hearth.db');
    await (await openStore({ path })).close();
    const db = openDatabase(path);
    const put = db.prepare('INSERT INTO expert_uses (model_id, layers, served, at) VALUES (?, ?, ?, 0)');
    const odd = [
      '',
      '{}',
      '[{"rows":-1,"experts":[]}]',
      '[{"rows":1,"experts":["a"]}]',
      '[{"rows":1e999,"experts":[]}]',
    ];
    for (const [index, text] of odd.entries()) put.run(`m${index}`, text, '[]');
    put.run(`m${odd.length}`, '[]', '[{"layer":0,"experts":[]}]');
    closeDatabase(db);
    const store = await temporaryStore(path);
    for (let index = 0; index <= odd.length; index += 1) expect(await store.expertUses(`m${index}`)).toBeUndefined();
  });

  it('measurements come back newest first', async () => {
    const store = await temporaryStore();
    await store.addMeasurement({ at: 1, kind: 'bench', subject: 'm', values: { tps: 1 } });
    await store.addMeasurement({ at: 2, kind: 'bench', subject: 'm', values: { tps: 2 } });
    await store.addMeasurement({ at: 3, kind: 'bench', subject: 'n', values: {} });
    expect((await store.measurements('bench', 'm')).map((row) => row.values)).toEqual([{ tps: 2 }, { tps: 1 }]);
    expect((await store.measurements('bench')).length).toBe(3);
  });
});
