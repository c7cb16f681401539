// The official `openai` client against the server: what it reads, what it throws, and what happens when it lets go.
import OpenAI, {
  type APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction';
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../electron/contract/errors';
import { hashKey } from '../../electron/server/security/access';
import { endless, fails, part, says, sleep } from '../unit/server/fake-supervisor';
import { startServer, type Harness } from '../unit/server/harness';

const model = 'gpt-oss-20b';
const messages = [{ role: 'user' as const, content: 'How warm is the attic?' }];

const clientOf = ({ url }: Harness, apiKey = 'sk-none') => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

const tools: RunnableToolFunctionWithParse<{ room: string }>[] = [
  {
    type: 'function',
    function: {
      name: 'read_sensor',
      description: 'Reads a sensor.',
      parse: JSON.parse,
      function: ({ room }: { room: string }) => `{"room":"${room}","c":11.5}`,
      parameters: { type: 'object', properties: { room: { type: 'string' } } },
    },
  },
];

describe('the official client', () => {
  it('reads an answer', async () => {
    const server = await startServer();
    server.supervisor.script = says([part.reasoning('Hm.'), 'Cold', '.']);
    const answer = await clientOf(server).chat.completions.create({ model, messages });
    expect(answer.choices[0]?.message).toMatchObject({ role: 'assistant', content: 'Cold.', reasoning_content: 'Hm.' });
    expect(answer.usage?.total_tokens).toBe(18);
    expect(answer._request_id).toMatch(/^req_/);
  });

  it('reads a stream, its usage last', async () => {
    const server = await startServer();
    const stream = await clientOf(server).chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let total: number | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      total = chunk.usage?.total_tokens ?? total;
    }
    expect([text, total]).toEqual(['Hello there.', 18]);
  });

  it('its helper puts a stream together, tool calls too', async () => {
    const server = await startServer();
    server.supervisor.script = says(
      [part.call(0, 'call_1', 'read_sensor'), part.more(0, '{"room":'), part.more(0, '"attic"}')],
      {
        reason: 'tool_calls',
      },
    );
    const final = await clientOf(server)
      .chat.completions.stream({
        model,
        messages,
        tools: [{ type: 'function', function: { name: 'read_sensor', parameters: {} } }],
      })
      .finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe('tool_calls');
    expect(final.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call_1', type: 'function', function: { name: 'read_sensor', arguments: '{"room":"attic"}' } },
    ]);
  });

  it.each([false, true])('runs a tool and asks again with its result (stream: %s)', async (stream) => {
    const server = await startServer();
    server.supervisor.script = (asked) =>
      server.supervisor.asked.length === 1
        ? says([part.reasoning('I look.'), part.call(0, 'call_1', 'read_sensor', '{"room":"attic"}')], {
            reason: 'tool_calls',
          })(asked)
        : says(['11.5 degrees.'])(asked);
    const runner = stream
      ? clientOf(server).chat.completions.runTools({ model, messages, tools, stream: true })
      : clientOf(server).chat.completions.runTools({ model, messages, tools });
    expect(await runner.finalContent()).toBe('11.5 degrees.');
    const second = server.supervisor.last.work.input;
    expect(second.kind === 'chat' && second.chat.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'call_1', name: 'read_sensor', arguments: '{"room":"attic"}' }],
      },
      { role: 'tool', toolCallId: 'call_1', name: 'read_sensor', content: '{"room":"attic","c":11.5}' },
    ]);
  });

  it('lists the models and finds one', async () => {
    const server = await startServer();
    const client = clientOf(server);
    const names: string[] = [];
    for await (const entry of client.models.list()) names.push(entry.id);
    expect(names).toContain(model);
    expect((await client.models.retrieve(model)).owned_by).toBe('hearth');
    await expect(client.models.retrieve('none')).rejects.toBeInstanceOf(NotFoundError);
  });

  it('completes raw text', async () => {
    const server = await startServer();
    const answer = await clientOf(server).completions.create({ model, prompt: 'Once' });
    expect(answer.choices[0]?.text).toBe('Hello there.');
    const stream = await clientOf(server).completions.create({ model, prompt: 'Once', stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    expect(text).toBe('Hello there.');
  });

  it.each([
    ['an unknown model', { model: 'gpt-4o', messages }, NotFoundError, 'model_not_found'],
    ['no messages', { model, messages: [] }, BadRequestError, null],
    ['a temperature of 9', { model, messages, temperature: 9 }, BadRequestError, null],
  ])('throws its own error for %s', async (_name, body, kind, code) => {
    const server = await startServer();
    const error = await clientOf(server)
      .chat.completions.create(body)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect((error as APIError).code).toBe(code);
    expect((error as APIError).message.length).toBeGreaterThan(20);
  });

  it('throws its own error for a full queue and a wrong key', async () => {
    const server = await startServer();
    server.supervisor.script = fails(new HearthError('queue_full', 'Too many wait.'));
    await expect(clientOf(server).chat.completions.create({ model, messages })).rejects.toBeInstanceOf(RateLimitError);
    await server.options.store.addKey({ id: 'k', name: 'n', hash: hashKey('sk-right'), hint: '', createdAt: 1 });
    await expect(clientOf(server).models.list()).rejects.toBeInstanceOf(AuthenticationError);
    expect((await clientOf(server, 'sk-right').models.list()).data.length).toBe(2);
  });

  it('throws the error that ends a stream', async () => {
    const server = await startServer();
    server.supervisor.script = says(['one'], {
      reason: 'error',
      error: { code: 'runtime_crashed', message: 'The model stopped.' },
    });
    const stream = await clientOf(server).chat.completions.create({ model, messages, stream: true });
    let text = '';
    const read = async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toThrow(/The model stopped/);
    await expect(Promise.resolve(text)).resolves.toBe('one');
  });

  it('tries again by itself where waiting helps', async () => {
    const server = await startServer();
    server.supervisor.script = (asked) =>
      (server.supervisor.asked.length === 1
        ? fails(new HearthError('runtime_crashed', 'It stopped.'))
        : says(['Back.']))(asked);
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'x', maxRetries: 1 });
    expect((await client.chat.completions.create({ model, messages })).choices[0]?.message.content).toBe('Back.');
  });

  it('letting go cancels, in a stream and before it', async () => {
    const server = await startServer();
    server.supervisor.script = endless;
    const stream = await clientOf(server).chat.completions.create({ model, messages, stream: true });
    let count = 0;
    for await (const _ of stream) if (++count === 3) break;
    await sleep(300);
    expect(server.supervisor.cancelled.length).toBe(1);

    const controller = new AbortController();
    const waiting = clientOf(server).chat.completions.create({ model, messages }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(waiting).rejects.toBeInstanceOf(APIUserAbortError);
    await sleep(300);
    expect(server.supervisor.cancelled.length).toBe(2);
    expect(server.supervisor.queue().running).toBe(0);
  });
});
