// Turns over HTTP with a real database: what a page sees, and what is left when it goes away.
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HearthError } from '../../electron/contract/errors';
import { chatWithMessages, turnEvent, turnStarted, type Message, type TurnEvent } from '../../electron/contract/own';
import type { ChatInput } from '../../electron/contract/chat';
import { THOUGHT_TOKENS } from '../../electron/contract/own';
import { endless, fails, part, says, sleep } from '../unit/server/fake-supervisor';
import { authorized, own, startServer, type Harness } from '../unit/server/harness';

interface Read {
  ids: number[];
  events: TurnEvent[];
}

/** Follows a turn to its end, or lets go after so many events. */
function follow(server: Harness, turn: string, cursor?: number, most = Infinity, lastEventId?: string): Promise<Read> {
  const query = cursor === undefined ? '' : `?cursor=${cursor}`;
  return new Promise((resolve, reject) => {
    const read: Read = { ids: [], events: [] };
    let pending = '';
    const headers = { ...authorized, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
    const request = httpRequest(
      { host: '127.0.0.1', port: server.port, path: `/hearth/v1/turns/${turn}/events${query}`, headers },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          pending += chunk.toString();
          const blocks = pending.split('\n\n');
          pending = blocks.pop() ?? '';
          for (const block of blocks) {
            const id = /^id: (\d+)$/m.exec(block)?.[1];
            const data = /^data: (.*)$/m.exec(block)?.[1];
            if (data === undefined || read.events.length >= most) continue;
            read.ids.push(Number(id));
            read.events.push(turnEvent.parse(JSON.parse(data)));
          }
          if (read.events.length >= most) request.destroy();
        });
        response.on('close', () => resolve(read));
        response.on('error', () => resolve(read));
      },
    );
    request.on('error', (error) => (read.events.length > 0 ? resolve(read) : reject(error)));
    request.end();
  });
}

const newChat = async (server: Harness, body: object = {}) =>
  (await own(server, 'POST', '/chats', body)).body as { id: string };
const readChat = async (server: Harness, id: string) =>
  chatWithMessages.parse((await own(server, 'GET', `/chats/${id}`)).body);

async function begin(server: Harness, chatId: string, body: object = { text: 'What floats?' }) {
  const reply = await own(server, 'POST', `/chats/${chatId}/turns`, body);
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.raw}`);
  return turnStarted.parse(reply.body);
}

async function whole(server: Harness, chatId: string, body?: object) {
  const started = await begin(server, chatId, body);
  const { events } = await follow(server, started.turn);
  const end = events.at(-1);
  if (end?.kind !== 'end') throw new Error('no end');
  return { ...started, events, answer: end.message };
}

const inputOf = (server: Harness): ChatInput => (server.supervisor.last.work.input as { chat: ChatInput }).chat;
const textOf = (events: TurnEvent[]) => events.map((event) => (event.kind === 'text' ? event.delta : '')).join('');

describe('a turn', () => {
  it('is told in order and stored as it was told', async () => {
    const server = await startServer();
    await server.supervisor.load({ name: 'gpt-oss-20b', path: '' });
    server.supervisor.script = says([part.reasoning('Wood?'), 'Wo', 'od.']);
    const chat = await newChat(server);
    const { events, answer, user } = await whole(server, chat.id);
    expect(events.map((event) => event.kind)).toEqual([
      'title',
      'start',
      'prefill',
      'reasoning',
      'text',
      'text',
      'end',
    ]);
    expect(user).toMatchObject({ role: 'user', text: 'What floats?', parentId: null, status: 'complete' });
    expect(answer).toMatchObject({
      text: 'Wood.',
      reasoning: 'Wood?',
      status: 'complete',
      finishReason: 'stop',
      parentId: user.id,
    });
    const stored = await readChat(server, chat.id);
    expect(stored.messages).toEqual([user, answer]);
    expect(stored).toMatchObject({ title: 'What floats?', headId: answer.id });
    expect(stored.turn).toBeUndefined();
  });

  it('has a receipt of the weights, the kernels and the chance that gave it', async () => {
    const server = await startServer();
    await server.supervisor.load({ name: 'gpt-oss-20b', path: '' });
    const chat = await newChat(server);
    const { answer } = await whole(server, chat.id);
    expect(answer.receipt).toEqual({
      model: 'gpt-oss-20b',
      modelId: 'sha256-of-gpt-oss-20b',
      engineBuild: 'build-1',
      mesh: 'cpu/avx2 fast',
      requestId: expect.stringMatching(/^req_/),
      seed: server.supervisor.last.work.sampling.seed,
      temperature: 1,
      effort: 'medium',
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      droppedTurns: 0,
    });
    expect(answer.receipt?.requestId).toBe(server.supervisor.last.work.id);
  });

  it('a page that goes away and comes back loses nothing, and so does a second window', async () => {
    const server = await startServer();
    server.supervisor.script = says(Array.from({ length: 60 }, (_, index) => [`w${index} `, { pause: 5 }]).flat());
    const chat = await newChat(server);
    const { turn } = await begin(server, chat.id);
    const [gone, beside] = await Promise.all([follow(server, turn, 0, 10), follow(server, turn)]);
    expect(gone.events.length).toBe(10);
    const back = await follow(server, turn, 10);
    const joined = [...gone.events, ...back.events];
    expect(joined).toEqual(beside.events);
    expect([...gone.ids, ...back.ids]).toEqual(joined.map((_, index) => index));
    expect(textOf(joined)).toBe(Array.from({ length: 60 }, (_, index) => `w${index} `).join(''));
  });

  it('goes on without any page, and the chat names the turn to attach to meanwhile', async () => {
    const server = await startServer();
    server.supervisor.script = says(['a', { pause: 100 }, 'b']);
    const chat = await newChat(server);
    const { turn } = await begin(server, chat.id);
    await sleep(40);
    const during = await readChat(server, chat.id);
    expect(during.turn).toBe(turn);
    expect(during.messages[1]).toMatchObject({ status: 'streaming', text: 'a' });
    await sleep(150);
    expect((await readChat(server, chat.id)).messages[1]).toMatchObject({ status: 'complete', text: 'ab' });
    // A reconnecting reader goes on after what it has seen.
    const all = await follow(server, turn);
    const rest = await follow(server, turn, undefined, Infinity, '3');
    expect(rest.events).toEqual(all.events.slice(4));
  });

  it('a second one in the same chat is refused while the first runs, also at the same moment', async () => {
    const server = await startServer();
    server.supervisor.script = endless;
    const chat = await newChat(server);
    const replies = await Promise.all(
      [1, 2, 3].map(() => own(server, 'POST', `/chats/${chat.id}/turns`, { text: 'x' })),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 409, 409]);
    expect(replies.find((reply) => reply.status === 409)?.body.error.code).toBe('chat_busy');
    const other = await newChat(server);
    expect((await begin(server, other.id)).turn).toBeTruthy();
  });

  it('stops at once and keeps what was written', async () => {
    const server = await startServer();
    server.supervisor.script = endless;
    const chat = await newChat(server);
    const { turn } = await begin(server, chat.id);
    await follow(server, turn, 0, 8);
    const asked = Date.now();
    expect((await own(server, 'POST', `/turns/${turn}/stop`)).status).toBe(204);
    expect(Date.now() - asked).toBeLessThan(300);
    const [, answer] = (await readChat(server, chat.id)).messages;
    expect(answer).toMatchObject({ status: 'stopped', finishReason: 'cancelled' });
    expect(answer?.text).toMatch(/^word0 word1 /);
    expect(answer?.error).toBeUndefined();
    expect((await follow(server, turn)).events.at(-1)).toMatchObject({ kind: 'end', message: { status: 'stopped' } });
    // Stopping what has ended is no error, and the chat is free again.
    expect((await own(server, 'POST', `/turns/${turn}/stop`)).status).toBe(204);
    server.supervisor.script = says(['ok']);
    expect((await whole(server, chat.id)).answer.text).toBe('ok');
  });

  it('that fails says why in the answer, and the chat goes on', async () => {
    const server = await startServer();
    server.supervisor.script = fails(
      new HearthError('out_of_ram', 'The model needs 13 GiB.', { needed: 13, available: 8 }),
    );
    const chat = await newChat(server);
    const { answer, user } = await whole(server, chat.id);
    expect(answer).toMatchObject({ status: 'error', finishReason: 'error', error: { code: 'out_of_ram', needed: 13 } });
    server.supervisor.script = says(['Fine.']);
    const second = await whole(server, chat.id, { text: 'And now?' });
    expect(inputOf(server).messages).toEqual([
      { role: 'user', content: user.text },
      { role: 'user', content: 'And now?' },
    ]);
    expect(second.user.parentId).toBe(answer.id);
  });

  it('that fails half way keeps its text beside the error', async () => {
    const server = await startServer();
    server.supervisor.script = says(['Half'], {
      reason: 'error',
      error: { code: 'runtime_crashed', message: 'It stopped.' },
    });
    const chat = await newChat(server);
    const { answer } = await whole(server, chat.id);
    expect(answer).toMatchObject({ text: 'Half', status: 'error', error: { code: 'runtime_crashed' } });
    expect((await readChat(server, chat.id)).messages[1]).toEqual(answer);
  });

  it('a model that calls a tool nobody gave it has its words shown, not lost', async () => {
    const server = await startServer();
    server.supervisor.script = says([part.call(0, 'c', 'python', 'print(1)')], { reason: 'tool_calls' });
    const chat = await newChat(server);
    expect((await whole(server, chat.id)).answer).toMatchObject({ text: 'print(1)', status: 'complete' });
  });

  it('waiting is told before there is anything to show', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    const { events } = await whole(server, chat.id);
    expect(events.slice(0, 2)).toEqual([
      { kind: 'title', title: 'What floats?' },
      { kind: 'waiting', reason: 'loading', ahead: 0 },
    ]);
  });
});

describe('versions', () => {
  it('an answer written again is a new version beside the old one', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    server.supervisor.script = says(['One.']);
    const first = await whole(server, chat.id);
    server.supervisor.script = says(['Two.']);
    const again = await whole(server, chat.id, { regenerate: first.user.id });
    expect(again.user.id).toBe(first.user.id);
    expect(again.answer.parentId).toBe(first.user.id);
    // By the answer's own id it means the same.
    await whole(server, chat.id, { regenerate: again.answer.id });
    const stored = await readChat(server, chat.id);
    expect(stored.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'assistant', 'assistant']);
    expect(inputOf(server).messages).toEqual([{ role: 'user', content: 'What floats?' }]);
    const seeds = server.supervisor.asked.map(({ work }) => work.sampling.seed);
    expect(new Set(seeds).size).toBe(3);
  });

  it('a question asked differently is a branch: the model reads its own branch alone', async () => {
    const server = await startServer();
    const chat = await newChat(server, { settings: { instructions: 'Be brief.' } });
    server.supervisor.script = says([part.reasoning('Hm.'), 'Wood.']);
    const first = await whole(server, chat.id, { text: 'What floats?' });
    const second = await whole(server, chat.id, { text: 'And sinks?' });
    expect(inputOf(server).messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What floats?' },
      { role: 'assistant', content: 'Wood.', reasoning: 'Hm.' },
      { role: 'user', content: 'And sinks?' },
    ]);
    const edited = await whole(server, chat.id, { text: 'And flies?', parentId: first.answer.id });
    expect(inputOf(server).messages.map((message) => message.content)).toEqual([
      'Be brief.',
      'What floats?',
      'Wood.',
      'And flies?',
    ]);
    expect(edited.user.parentId).toBe(second.user.parentId);
    const root = await whole(server, chat.id, { text: 'Other?', parentId: null });
    expect(inputOf(server).messages.map((message) => message.content)).toEqual(['Be brief.', 'Other?']);
    expect((await readChat(server, chat.id)).headId).toBe(root.answer.id);
    // Back to the first branch, and on from there.
    await own(server, 'PATCH', `/chats/${chat.id}`, { headId: second.answer.id });
    await whole(server, chat.id, { text: 'More?' });
    expect(inputOf(server).messages.map((message) => message.content)).toEqual([
      'Be brief.',
      'What floats?',
      'Wood.',
      'And sinks?',
      'Wood.',
      'More?',
    ]);
  });

  it.each([
    ['a parent of another chat', (m: Message) => ({ text: 'x', parentId: m.id })],
    ['an answer again that is not there', () => ({ regenerate: 'nothing' })],
    ['an answer again of another chat', (m: Message) => ({ regenerate: m.id })],
  ])('%s is not found, and nothing is stored', async (_name, body) => {
    const server = await startServer();
    const [one, two] = [await newChat(server), await newChat(server)];
    const { user } = await whole(server, one.id);
    const reply = await own(server, 'POST', `/chats/${two.id}/turns`, body(user));
    expect([reply.status, reply.body.error.code]).toEqual([404, 'not_found']);
    expect((await readChat(server, two.id)).messages).toEqual([]);
    expect((await whole(server, two.id)).answer.status).toBe('complete');
  });
});

describe('sliders', () => {
  it('reach the engine as numbers', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    await whole(server, chat.id);
    const { sampling, ...plain } = server.supervisor.last.work;
    expect(sampling.temperature).toBeUndefined();
    expect(plain).toMatchObject({ thoughtTokens: THOUGHT_TOKENS.medium, fit: true, priority: 'interactive' });
    expect([plain.answerTokens, plain.keepTurns, plain.maxTokens]).toEqual([undefined, undefined, undefined]);

    const settings = { answerLength: 'short', creativity: 'imaginative', memory: 'turns3', effort: 'high' };
    await own(server, 'PATCH', `/chats/${chat.id}`, { settings });
    await whole(server, chat.id);
    expect(server.supervisor.last.work).toMatchObject({
      answerTokens: 128,
      keepTurns: 3,
      thoughtTokens: THOUGHT_TOKENS.high,
      sampling: { temperature: 1.2 },
    });
    expect(inputOf(server).effort).toBe('high');
  });

  it('one of them moved leaves the others where they were', async () => {
    const server = await startServer();
    const chat = await newChat(server, { settings: { answerLength: 'long', instructions: 'Sing.' } });
    await own(server, 'PATCH', `/chats/${chat.id}`, { settings: { effort: 'low' } });
    expect((await readChat(server, chat.id)).settings).toEqual({
      answerLength: 'long',
      instructions: 'Sing.',
      effort: 'low',
      creativity: 'balanced',
      memory: 'all',
    });
  });

  it('the day in the prompt is the day of the chat, not of the turn', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    await whole(server, chat.id);
    expect(inputOf(server).date).toBe((await readChat(server, chat.id)).date);
  });
});

describe('which model answers', () => {
  it('the one that is named, else the one in the foreground, else the one that ships', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    await whole(server, chat.id);
    expect(server.supervisor.last.model.name).toBe('gpt-oss-20b');
    await server.supervisor.load({ name: 'plain', path: '' });
    await whole(server, chat.id);
    expect(server.supervisor.last.model.name).toBe('plain');
    await whole(server, chat.id, { text: 'x', model: 'gpt-oss-20b' });
    expect(server.supervisor.last.model.name).toBe('gpt-oss-20b');
  });

  it.each([
    ['none', 404, 'model_not_found'],
    ['broken', 422, 'bad_file'],
  ])('%s is refused before the question is stored', async (model, status, code) => {
    const server = await startServer();
    const chat = await newChat(server);
    const reply = await own(server, 'POST', `/chats/${chat.id}/turns`, { text: 'x', model });
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
    expect((await readChat(server, chat.id)).messages).toEqual([]);
  });
});

describe('endings', () => {
  it('closing Hearth keeps what was written, marked as interrupted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hearth-turns-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const dbPath = join(folder, 'hearth.db');
    const server = await startServer({ dbPath });
    server.supervisor.script = endless;
    const chat = await newChat(server);
    const { turn } = await begin(server, chat.id);
    await follow(server, turn, 0, 6);
    await server.close();
    const again = await startServer({ dbPath });
    const [question, answer] = (await readChat(again, chat.id)).messages;
    expect(question?.text).toBe('What floats?');
    expect(answer).toMatchObject({ status: 'interrupted' });
    expect(answer?.text).toMatch(/^word0 word1 /);
    // It does not send the question again by itself.
    await sleep(50);
    expect(again.supervisor.asked).toEqual([]);
  });

  it('deleting a chat stops its turn; taking it back brings everything back', async () => {
    const server = await startServer();
    server.supervisor.script = endless;
    const chat = await newChat(server);
    const { turn } = await begin(server, chat.id);
    await follow(server, turn, 0, 6);
    expect((await own(server, 'DELETE', `/chats/${chat.id}`)).status).toBe(204);
    expect(server.supervisor.queue().running).toBe(0);
    expect((await own(server, 'POST', `/chats/${chat.id}/turns`, { text: 'x' })).status).toBe(404);
    expect((await own(server, 'POST', `/chats/${chat.id}/restore`)).status).toBe(200);
    const back = await readChat(server, chat.id);
    expect(back.messages.map((message) => message.status)).toEqual(['complete', 'stopped']);
  });
});
