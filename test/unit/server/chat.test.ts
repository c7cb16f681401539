// /v1/chat/completions over HTTP, with a supervisor that plays the model.
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import type { ChatInput, TokenLogprob } from '../../../electron/contract/chat';
import { endless, fails, part, says, sleep } from './fake-supervisor';
import { ask, chat, eventsOf, startServer, type Harness } from './harness';

const lp = (token: string): TokenLogprob => ({
  token,
  bytes: [...Buffer.from(token)],
  logprob: -0.5,
  top: [{ token, bytes: [...Buffer.from(token)], logprob: -0.5 }],
});

const tools = [{ type: 'function', function: { name: 'read_sensor', parameters: { type: 'object' } } }];

const calling = says(
  [
    part.reasoning('I look.'),
    part.call(0, 'call_1', 'read_sensor'),
    part.more(0, '{"room":'),
    part.more(0, '"attic"}'),
    part.call(1, 'call_2', 'read_sensor', '{}'),
  ],
  { reason: 'tool_calls' },
);

describe('an answer in one piece', () => {
  it('has the shape that clients read', async () => {
    const server = await startServer();
    await server.supervisor.load({ name: 'gpt-oss-20b', path: '/models/gpt-oss-20b.gguf' });
    server.supervisor.script = says([part.reasoning('Polite.'), 'Hel', 'lo.']);
    const { status, body, headers } = await chat(server, { seed: 9 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'chat.completion', model: 'gpt-oss-20b', created: expect.any(Number) });
    expect(body.id).toMatch(/^chatcmpl-/);
    expect(body.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello.', refusal: null, reasoning_content: 'Polite.' },
        logprobs: null,
        finish_reason: 'stop',
        hearth: { finish: 'stop', seed: 9, timings: expect.any(Object) },
      },
    ]);
    expect(body.usage).toEqual({
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
    });
    expect(headers).toMatchObject({
      'x-hearth-model-id': 'sha256-of-gpt-oss-20b',
      'x-hearth-engine': 'build-1',
      'x-hearth-mesh': 'cpu/avx2 fast',
    });
    expect(headers['x-request-id']).toBe(`req_${String(body.id).slice('chatcmpl-'.length)}`);
  });

  it('tool calls stand beside null content', async () => {
    const server = await startServer();
    server.supervisor.script = calling;
    const { body } = await chat(server, { tools });
    expect(body.choices[0].message.content).toBeNull();
    expect(body.choices[0].message.tool_calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'read_sensor', arguments: '{"room":"attic"}' } },
      { id: 'call_2', type: 'function', function: { name: 'read_sensor', arguments: '{}' } },
    ]);
    expect(body.choices[0].finish_reason).toBe('tool_calls');
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['repetition', 'length'],
  ] as const)('the end %s is told as %s, and as it was', async (reason, told) => {
    const server = await startServer();
    server.supervisor.script = says(['x'], { reason });
    const { body } = await chat(server, {});
    expect(body.choices[0]).toMatchObject({ finish_reason: told, hearth: { finish: reason } });
  });

  it('an answer without a word is an empty text, not null', async () => {
    const server = await startServer();
    server.supervisor.script = says([part.reasoning('…')], { reason: 'length' });
    expect((await chat(server, {})).body.choices[0].message.content).toBe('');
  });

  it('logprobs stand beside the text, also those that come a step after it', async () => {
    const server = await startServer();
    server.supervisor.script = async function* (asked) {
      const { id } = asked.work;
      for await (const event of says(['Hi'])(asked)) {
        yield event;
        if (event.kind !== 'parts') continue;
        yield { kind: 'parts', id, index: 1, tokenIds: [], parts: [], logprobs: [lp('Hi'), lp('!')] };
      }
    };
    const { body } = await chat(server, { logprobs: true, top_logprobs: 1 });
    expect(server.supervisor.last.work.logprobs).toBe(1);
    const { content } = body.choices[0].logprobs;
    expect(content.map((entry: { token: string }) => entry.token)).toEqual(['Hi', '!']);
    expect(content[0].top_logprobs).toEqual([{ token: 'Hi', logprob: -0.5, bytes: [72, 105] }]);
    const chunks = eventsOf((await chat(server, { logprobs: true, stream: true })).raw).slice(0, -1);
    expect(chunks.flatMap((chunk) => chunk.choices[0].logprobs?.content ?? []).length).toBe(2);
  });

  it('several answers have an index each, and the prompt counts once', async () => {
    const server = await startServer();
    const { body } = await chat(server, { n: 2 });
    expect(body.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1]);
    expect(body.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 14 });
  });

  it('the prompt has the day, so that the model knows it', async () => {
    const server = await startServer();
    await chat(server, {});
    const { chat: input } = server.supervisor.last.work.input as { chat: ChatInput };
    expect(input.date).toMatch(/^\d{4}-\d\d-\d\d$/);
  });
});

describe('a stream', () => {
  const stream = async (server: Harness, fields: object = {}) => chat(server, { stream: true, ...fields });

  it('has role first, one id and time, the finish, the usage without choices, and [DONE]', async () => {
    const server = await startServer();
    server.supervisor.script = says([part.reasoning('Hm.'), 'Hel', 'lo.']);
    const { raw, headers } = await stream(server, { stream_options: { include_usage: true } });
    expect(headers['content-type']).toMatch(/^text\/event-stream/);
    const events = eventsOf(raw);
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1);
    expect(chunks[0].choices[0].delta).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(chunks.slice(1, -2).map((chunk) => chunk.choices[0].delta)).toEqual([
      { reasoning_content: 'Hm.' },
      { content: 'Hel' },
      { content: 'lo.' },
    ]);
    expect(chunks.at(-2).choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop', hearth: { finish: 'stop' } });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 18 } });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.object}`)).size).toBe(1);
  });

  it('says nothing of usage unless asked', async () => {
    const server = await startServer();
    const events = eventsOf((await stream(server)).raw).slice(0, -1);
    expect(events.every((chunk) => !('usage' in chunk))).toBe(true);
  });

  it('names a tool call once: index on every delta, id, type and name on the first alone', async () => {
    const server = await startServer();
    server.supervisor.script = calling;
    const chunks = eventsOf((await stream(server, { tools })).raw).slice(0, -1);
    const deltas = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
    expect(deltas).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'read_sensor', arguments: '' } },
      { index: 0, function: { arguments: '{"room":' } },
      { index: 0, function: { arguments: '"attic"}' } },
      { index: 1, id: 'call_2', type: 'function', function: { name: 'read_sensor', arguments: '{}' } },
    ]);
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls');
  });

  it('whole characters arrive whole', async () => {
    const server = await startServer();
    server.supervisor.script = says(['🏔️', ' 漁師 ', '🧑‍🚀', ' é']);
    const { raw } = await stream(server);
    expect(raw).not.toContain('\ufffd');
    const text = eventsOf(raw)
      .slice(0, -1)
      .map((chunk) => chunk.choices[0].delta.content ?? '')
      .join('');
    expect(text).toBe('🏔️ 漁師 🧑‍🚀 é');
  });

  it('several answers are told apart by their index', async () => {
    const server = await startServer();
    const chunks = eventsOf((await stream(server, { n: 2 })).raw).slice(0, -1);
    for (const index of [0, 1]) {
      const text = chunks
        .filter((chunk) => chunk.choices[0].index === index)
        .map((chunk) => chunk.choices[0].delta.content ?? '');
      expect(text.join('')).toBe('Hello there.');
    }
  });

  it('an error before the first event is a status', async () => {
    const server = await startServer();
    server.supervisor.script = fails(
      new HearthError('context_length_exceeded', 'The prompt has 60000 tokens, the model reads 4096.'),
    );
    const { status, body } = await stream(server);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code: 'context_length_exceeded' });
    expect(body.error.message).toMatch(/\d{3,}.*\d{3,}/);
  });

  it('an error after the stream began is an event with an error object, then the end', async () => {
    const server = await startServer();
    server.supervisor.script = says(['one', 'two'], {
      reason: 'error',
      error: { code: 'runtime_crashed', message: 'The model stopped.' },
    });
    const events = eventsOf((await stream(server)).raw);
    expect(events.at(-1)).toEqual({
      error: {
        message: expect.stringContaining('The model stopped.'),
        type: 'server_error',
        param: null,
        code: 'runtime_crashed',
      },
    });
    expect(events).not.toContain('[DONE]');
  });

  it('an answer that its schema refuses is an error, not an answer, streamed or not', async () => {
    const server = await startServer();
    const message = 'The answer is not what the schema asks for: output/share must be <= 1.';
    server.supervisor.script = says(['{"share": 7.5}'], {
      reason: 'error',
      error: { code: 'unsupported_schema', message },
    });
    const error = {
      type: 'invalid_request_error',
      code: 'unsupported_schema',
      message: expect.stringContaining(message),
    };
    const whole = await chat(server, {});
    expect(whole.status).toBe(400);
    expect(whole.body.error).toMatchObject(error);
    const events = eventsOf((await stream(server)).raw);
    expect(events.at(-1)).toMatchObject({ error });
  });

  it('headers go out while the prompt is still being read', async () => {
    const server = await startServer();
    server.supervisor.script = says([{ pause: 4600 }, 'late']);
    server.supervisor.script = async function* (asked) {
      await sleep(4600);
      yield* says(['late'])(asked);
    };
    const started = Date.now();
    const first = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port: server.port,
          path: '/v1/chat/completions',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        },
        (response) => {
          resolve(Date.now() - started);
          response.resume();
        },
      );
      request.on('error', reject);
      request.end(JSON.stringify({ model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'x' }], stream: true }));
    });
    expect(first).toBeLessThan(4500);
  });
});

describe('a client that leaves', () => {
  function leave(server: Harness, stream: boolean, after: () => Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port: server.port,
          path: '/v1/chat/completions',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        },
        (response) => response.resume(),
      );
      request.on('error', () => undefined);
      request.on('close', () => resolve());
      request.end(JSON.stringify({ model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'x' }], stream }));
      void after().then(() => request.destroy());
    });
  }

  it.each([
    ['within a stream', true, endless],
    ['while it waits for one piece', false, endless],
    [
      'before the first event',
      true,
      async function* () {
        await sleep(60_000);
      },
    ],
  ] as const)('%s cancels within 300 ms', async (_name, stream, script) => {
    const server = await startServer();
    server.supervisor.script = script as typeof endless;
    await leave(server, stream, async () => {
      while (server.supervisor.asked.length === 0) await sleep(5);
      await sleep(60);
    });
    const left = Date.now();
    while (server.supervisor.cancelled.length === 0 && Date.now() - left < 2000) await sleep(5);
    expect(server.supervisor.cancelled.length).toBe(1);
    expect(Date.now() - left).toBeLessThan(300);
    await sleep(20);
    expect(server.supervisor.queue().running).toBe(0);
  });

  it('and comes back is answered', async () => {
    const server = await startServer();
    server.supervisor.script = endless;
    await leave(server, true, () => sleep(100));
    server.supervisor.script = says(['Here.']);
    expect((await chat(server, {})).body.choices[0].message.content).toBe('Here.');
  });
});

describe('a slow reader', () => {
  it('holds nobody up but itself, and gets everything', async () => {
    const server = await startServer();
    const big = 'x'.repeat(20_000);
    let sent = 0;
    server.supervisor.script = async function* ({ work: { id } }) {
      yield { kind: 'start', id, promptTokens: 1, temperature: 1, droppedTurns: 0 };
      for (let index = 0; index < 500; index++) {
        sent++;
        yield { kind: 'parts', id, index, tokenIds: [index], parts: [part.text(big)] };
      }
      yield* says([])({ work: { id } } as never);
    };
    const body = JSON.stringify({ model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'x' }], stream: true });
    const received = await new Promise<number>((resolve, reject) => {
      let bytes = 0;
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port: server.port,
          path: '/v1/chat/completions',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        },
        (response) => {
          response.pause();
          setTimeout(() => {
            // 10 MB do not fit into the sockets' buffers: the generation has been held back.
            expect(sent).toBeLessThan(450);
            response.on('data', (chunk: Buffer) => (bytes += chunk.length));
            response.on('end', () => resolve(bytes));
            response.resume();
          }, 300);
        },
      );
      request.on('error', reject);
      request.end(body);
    });
    expect(received).toBeGreaterThan(10_000_000);
  });
});

describe('models', () => {
  it('an unknown one is 404 with near names, and nothing is asked of the engine', async () => {
    const server = await startServer();
    for (const name of ['no-such-model-7b', '../../../../etc/passwd', '/etc/passwd', 'gpt-oss-2ob']) {
      const { status, body } = await chat(server, { model: name });
      expect([status, body.error.code, body.error.param]).toEqual([404, 'model_not_found', 'model']);
      expect(body.error.message).toMatch(/gpt-oss-20b/);
    }
    expect(server.supervisor.asked).toEqual([]);
  });

  it('a broken one says what is wrong with it', async () => {
    const server = await startServer();
    const { status, body } = await chat(server, { model: 'broken' });
    expect([status, body.error.code]).toEqual([422, 'bad_file']);
    expect(body.error.message).toMatch(/header.*Download/);
  });

  it('tools for a model that has none are refused by name, unless they are not to be used', async () => {
    const server = await startServer();
    const refused = await chat(server, { model: 'plain', tools });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'tools']);
    expect((await chat(server, { model: 'plain', tools, tool_choice: 'none' })).status).toBe(200);
  });

  it('the list has what clients read, usable models alone', async () => {
    const server = await startServer();
    const { body } = await ask(server, 'GET', '/v1/models');
    expect(body.object).toBe('list');
    expect(body.data.map((model: { id: string }) => model.id)).toEqual(['gpt-oss-20b', 'plain']);
    expect(body.data[0]).toMatchObject({
      object: 'model',
      created: 1_700_000_000,
      owned_by: 'hearth',
      context_length: 131_072,
      max_model_len: 131_072,
      hearth: { abilities: { tools: true } },
    });
    await server.supervisor.load({ name: 'gpt-oss-20b', path: '' });
    const { body: one } = await ask(server, 'GET', '/v1/models/gpt-oss-20b');
    expect(one).toMatchObject({ id: 'gpt-oss-20b', context_length: 4096, hearth: { loaded: true } });
  });

  it.each(['/v1/models/none', '/v1/models/a/b', '/v1/models/..%2f..%2fetc%2fpasswd', '/v1/models/'])(
    '%s is model_not_found',
    async (path) => {
      const server = await startServer();
      const { status, body } = await ask(server, 'GET', path);
      expect([status, body.error.code]).toEqual([404, 'model_not_found']);
    },
  );

  it('a queue that is full says when to try again', async () => {
    const server = await startServer();
    server.supervisor.script = fails(new HearthError('queue_full', 'Too many requests wait.'));
    const reply = await chat(server, {});
    expect([reply.status, reply.body.error.type]).toEqual([429, 'rate_limit_error']);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  });
});
