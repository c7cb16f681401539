// The pure pieces of the client of remote engines: events out of bytes, words there and back, names, addresses, health.
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../../../electron/contract/errors';
import { chatInput } from '../../../../electron/contract/chat';
import type { GenerateRequest, Part } from '../../../../electron/contract/runtime';
import { checkedUrl } from '../../../../electron/supervisor/remote/engines';
import { errorOfStatus } from '../../../../electron/supervisor/remote/errors';
import { healthOf, nextCheckMs } from '../../../../electron/supervisor/remote/health';
import { checkedEngineName, namesOnEngine } from '../../../../electron/supervisor/remote/names';
import { RemoteReader } from '../../../../electron/supervisor/remote/reader';
import { remoteRequest } from '../../../../electron/supervisor/remote/request';
import { sseData } from '../../../../electron/supervisor/remote/sse';

async function read(chunks: (string | Uint8Array)[], limits?: { event: number; total: number }): Promise<string[]> {
  const bytes = async function* () {
    for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
  };
  const all: string[] = [];
  for await (const data of sseData(bytes(), limits)) all.push(data);
  return all;
}

describe('server-sent events', () => {
  const cases: [string, string, string[]][] = [
    ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['CR LF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['no space', 'data:a\n\ndata:  b\n\n', ['a', ' b']],
    ['a byte order mark', '\ufeffdata: a\n\n', ['a']],
    ['comments and other fields', ': ping\n\nevent: x\nid: 1\ndata: a\nretry: 5\n\n', ['a']],
    ['several lines', 'data: a\ndata: b\ndata\n\n', ['a\nb\n']],
    ['no end', 'data: a\n\ndata: [DONE]', ['a', '[DONE]']],
    ['letters of several bytes', 'data: 春天 🚢\n\n', ['春天 🚢']],
    ['nothing', '', []],
  ];
  it.each(cases)('%s: the same however it is cut', async (_name, text, expected) => {
    const bytes = new TextEncoder().encode(text);
    expect(await read([bytes])).toEqual(expected);
    expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    for (let at = 1; at < bytes.length; at++) {
      expect(await read([bytes.slice(0, at), bytes.slice(at)])).toEqual(expected);
    }
  });

  it('invalid UTF-8 is shown as such and ends nothing', async () => {
    expect(await read(['data: a', Uint8Array.of(0xff, 0xc3), '\n\ndata: b\n\n'])).toEqual(['a\ufffd\ufffd', 'b']);
  });

  it.each([
    ['a line without end', ['data: ', ...Array<string>(50).fill('x'.repeat(100))]],
    ['an event of endless lines', Array<string>(500).fill('data: xxxxxxxxxxxxxxxxxx\n')],
    ['comments without end', Array<string>(2000).fill(': ping\n\n')],
  ])('%s is given up', async (_name, chunks) => {
    await expect(read(chunks, { event: 1000, total: 10_000 })).rejects.toMatchObject({ code: 'remote_failed' });
  });
});

const tool = { name: 'weather', description: 'Of a city', parameters: { type: 'object' } };
const chatWork = (chat: object, more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  id: 'r',
  input: { kind: 'chat', chat: chatInput.parse({ messages: [{ role: 'user', content: 'Hi' }], ...chat }) },
  sampling: { seed: 7 },
  ...more,
});

describe('the request', () => {
  it('asks for a stream with its use, and says nothing that was not asked for', () => {
    expect(remoteRequest('org/M', chatWork({}))).toEqual({
      path: 'chat/completions',
      body: {
        model: 'org/M',
        stream: true,
        stream_options: { include_usage: true },
        seed: 7,
        messages: [{ role: 'user', content: 'Hi' }],
      },
      droppedTurns: 0,
      droppableTurns: 0,
    });
  });

  it('carries tools, calls and their results', () => {
    const { body } = remoteRequest(
      'm',
      chatWork({
        tools: [tool],
        toolChoice: { name: 'weather' },
        effort: 'high',
        messages: [
          { role: 'developer', content: 'Be brief.' },
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            content: '',
            reasoning: 'A tool.',
            toolCalls: [{ id: 'c1', name: 'weather', arguments: '{"city":"Ulm"}' }],
          },
          { role: 'tool', content: '7 °C', toolCallId: 'c1', name: 'weather' },
        ],
      }),
    );
    expect(body).toMatchObject({
      tools: [{ type: 'function', function: tool }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      reasoning_effort: 'high',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'A tool.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } }],
        },
        { role: 'tool', content: '7 °C', tool_call_id: 'c1' },
      ],
    });
  });

  it('carries sampling, stops, limits, numbers and a schema', () => {
    const { body } = remoteRequest(
      'm',
      chatWork(
        { responseFormat: { type: 'json_schema', name: 'answer', schema: { type: 'object' } } },
        {
          maxTokens: 9,
          stop: ['END'],
          logprobs: 3,
          sampling: {
            seed: 1,
            temperature: 0,
            topK: 0,
            topP: 0.5,
            minP: 0.1,
            repetitionPenalty: 1.1,
            frequencyPenalty: 1,
            presencePenalty: -1,
            logitBias: [[5, -100]],
          },
        },
      ),
    );
    expect(body).toMatchObject({
      max_tokens: 9,
      stop: ['END'],
      logprobs: true,
      top_logprobs: 3,
      temperature: 0,
      top_k: -1,
      top_p: 0.5,
      min_p: 0.1,
      repetition_penalty: 1.1,
      frequency_penalty: 1,
      presence_penalty: -1,
      logit_bias: { 5: -100 },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    });
  });

  it('raw text and tokens go to completions', () => {
    const work = { id: 'r', sampling: { seed: 1 }, logprobs: 2 };
    expect(remoteRequest('m', { ...work, input: { kind: 'text', text: 'Once' } })).toMatchObject({
      path: 'completions',
      body: { prompt: 'Once', logprobs: 2 },
    });
    expect(remoteRequest('m', { ...work, input: { kind: 'tokens', tokens: [1, 2] } }).body.prompt).toEqual([1, 2]);
    expect(() => remoteRequest('m', { ...work, echo: true, input: { kind: 'text', text: 'x' } })).toThrow(/echo/);
  });

  it('older turns are left out as asked, the instructions and the last question never', () => {
    const messages = [
      { role: 'system', content: 'S' },
      ...[1, 2, 3].flatMap((n) => [
        { role: 'user', content: `q${n}` },
        { role: 'assistant', content: `a${n}` },
      ]),
      { role: 'user', content: 'q4' },
    ];
    const contents = (keepTurns?: number, dropped?: number) => {
      const request = remoteRequest('m', chatWork({ messages }, keepTurns === undefined ? {} : { keepTurns }), dropped);
      return [
        (request.body.messages as { content: string }[]).map(({ content }) => content).join(' '),
        request.droppedTurns,
        request.droppableTurns,
      ];
    };
    expect(contents()).toEqual(['S q1 a1 q2 a2 q3 a3 q4', 0, 3]);
    expect(contents(2)).toEqual(['S q3 a3 q4', 2, 1]);
    expect(contents(2, 1)).toEqual(['S q3 a3 q4', 2, 1]);
    expect(contents(undefined, 99)).toEqual(['S q4', 3, 0]);
  });
});

/** Chunks as JSON texts, through a reader to its end. */
function answer(...chunks: object[]) {
  const reader = new RemoteReader('secret');
  const delivered = chunks.map((chunk) => reader.push(JSON.stringify(chunk)));
  reader.push('[DONE]');
  const end = reader.end();
  const parts = [...delivered.flatMap((one) => one.parts), ...end.parts];
  return { parts, logprobs: delivered.flatMap((one) => one.logprobs), reason: end.reason, usage: end.usage };
}
const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const call = (fields: object) => delta({ tool_calls: [fields] });

describe('the answer', () => {
  it('thoughts under both names, text, use and the end', () => {
    expect(
      answer(
        delta({ role: 'assistant', content: '' }),
        delta({ reasoning_content: 'Hm' }),
        delta({ reasoning: '.' }),
        delta({ content: 'Yes' }),
        delta({ content: '.' }, 'stop'),
        { choices: [], usage: { prompt_tokens: 9, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 4 } } },
      ),
    ).toEqual({
      parts: [
        { channel: 'reasoning', delta: 'Hm' },
        { channel: 'reasoning', delta: '.' },
        { channel: 'text', delta: 'Yes' },
        { channel: 'text', delta: '.' },
      ],
      logprobs: [],
      reason: 'stop',
      usage: { promptTokens: 9, completionTokens: 6, reasoningTokens: 2, cachedTokens: 4 },
    });
  });

  const whole: Part[] = [
    { channel: 'tool', call: 0, id: 'a', name: 'one', delta: '{"x"' },
    { channel: 'tool', call: 0, delta: ':1}' },
    { channel: 'tool', call: 1, id: 'b', name: 'two', delta: '{}' },
  ];
  it.each<[string, object[], Part[]]>([
    [
      'as OpenAI streams them',
      [
        call({ index: 0, id: 'a', type: 'function', function: { name: 'one', arguments: '{"x"' } }),
        call({ index: 0, function: { arguments: ':1}' } }),
        call({ index: 1, id: 'b', function: { name: 'two', arguments: '{}' } }),
      ],
      whole,
    ],
    [
      'without numbers',
      [
        call({ id: 'a', function: { name: 'one', arguments: '{"x"' } }),
        call({ function: { arguments: ':1}' } }),
        call({ id: 'b', function: { name: 'two', arguments: '{}' } }),
      ],
      whole,
    ],
    [
      'the name after the arguments, no id, the name again',
      [
        call({ index: 0, function: { arguments: '{"x"' } }),
        call({ index: 0, function: { name: 'one', arguments: ':1' } }),
        call({ index: 0, function: { name: 'one', arguments: '}' } }),
      ],
      [
        { channel: 'tool', call: 0, id: 'call_0', name: 'one', delta: '{"x":1' },
        { channel: 'tool', call: 0, delta: '}' },
      ],
    ],
    [
      'never named: what was written is not lost',
      [call({ index: 0, id: 'a', function: { arguments: '{}' } })],
      [{ channel: 'tool', call: 0, id: 'a', name: '', delta: '{}' }],
    ],
  ])('calls %s', (_name, chunks, expected) => {
    const { parts, reason } = answer(...chunks, delta({}, 'tool_calls'));
    expect(parts).toEqual(expected);
    expect(reason).toBe('tool_calls');
    // Some servers say "stop" after a call.
    expect(answer(...chunks, delta({}, 'stop')).reason).toBe('tool_calls');
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'stop'],
    ['function_call', 'tool_calls'],
    ['something new', 'stop'],
  ])('finish reason %s is %s', (given, expected) =>
    expect(answer(delta({ content: 'x' }, given)).reason).toBe(expected),
  );

  it('another Hearth says more exactly how it ended', () => {
    expect(answer({ choices: [{ delta: {}, finish_reason: 'length', hearth: { finish: 'repetition' } }] }).reason).toBe(
      'repetition',
    );
  });

  it('numbers of tokens in both shapes', () => {
    const top = [{ token: 'no', logprob: -2, bytes: null }];
    const chat = answer({
      choices: [{ delta: { content: 'ö' }, logprobs: { content: [{ token: 'ö', logprob: -0.5, top_logprobs: top }] } }],
    });
    expect(chat.logprobs).toEqual([
      { token: 'ö', bytes: [0xc3, 0xb6], logprob: -0.5, top: [{ token: 'no', bytes: [110, 111], logprob: -2 }] },
    ]);
    const completion = answer({
      choices: [{ text: 'a', logprobs: { tokens: ['a'], token_logprobs: [-1], top_logprobs: [{ b: -3 }] } }],
    });
    expect(completion.parts).toEqual([{ channel: 'text', delta: 'a' }]);
    expect(completion.logprobs).toEqual([
      { token: 'a', bytes: [97], logprob: -1, top: [{ token: 'b', bytes: [98], logprob: -3 }] },
    ]);
  });

  it('an answer in one piece is an answer', () => {
    const reader = new RemoteReader();
    const { parts } = reader.whole(
      JSON.stringify({ choices: [{ message: { content: 'Whole.', reasoning_content: 'R' }, finish_reason: 'stop' }] }),
    );
    expect(parts).toEqual([
      { channel: 'reasoning', delta: 'R' },
      { channel: 'text', delta: 'Whole.' },
    ]);
    expect(reader.end().reason).toBe('stop');
  });

  it.each([
    ['no JSON', '{"choices": ['],
    ['not an object', '[1, 2]'],
    ['null', 'null'],
    ['an error in the stream', '{"error": {"message": "CUDA died with key secret", "code": 500}}'],
    ['an error as a text', '{"error": "no"}'],
  ])('%s is a typed error without the key', (_name, data) => {
    const error = (() => {
      try {
        new RemoteReader('secret').push(data);
      } catch (thrown) {
        return thrown as HearthError;
      }
      return undefined;
    })();
    expect(error).toMatchObject({ code: 'remote_failed' });
    expect(error?.message).not.toContain('secret');
  });

  it.each([
    '{}',
    '{"choices": null}',
    '{"choices": [{}]}',
    '{"choices": [{"delta": 5}]}',
    '{"choices": [{"delta": {"content": {"a": 1}, "tool_calls": "x"}}]}',
    '{"choices": [{"index": 1, "delta": {"content": "of another choice"}}]}',
    '{"choices": [{"delta": {"content": null}, "finish_reason": null}], "usage": {"prompt_tokens": -1}}',
    '{"choices": "no", "__proto__": {"x": 1}}',
  ])('%s is passed over', (data) => expect(new RemoteReader().push(data)).toEqual({ parts: [], logprobs: [] }));

  it('what breaks off is no answer', () => {
    const reader = new RemoteReader();
    reader.push(JSON.stringify(delta({ content: 'Half' })));
    expect(() => reader.end()).toThrow(/broke off/);
  });
});

describe('names', () => {
  it.each([
    ['plain', 'Lab', ['m'], [], ['m@lab']],
    ['with an owner and capitals', 'My GPU box', ['Qwen/Qwen3 4B'], [], ['qwen/qwen3-4b@my-gpu-box']],
    ['of a file', 'lab', ['a.gguf'], [], ['a@lab']],
    ['taken here', 'lab', ['m'], ['m@lab', 'm@lab-2'], ['m@lab-3']],
    ['the same twice', 'lab', ['M', 'm'], [], ['m@lab', 'm@lab-2']],
    ['of something that is elsewhere there', 'lab', ['m@b'], [], ['m@b@lab']],
    ['of nothing that can be written', 'lab', ['\u0000'], [], ['model@lab']],
  ])('%s', (_name, engine, ids, taken, expected) => {
    expect(namesOnEngine(engine, ids, (name) => taken.includes(name)).map(({ name }) => name)).toEqual(expected);
  });

  it.each(['a1b2c3', 'A1B2C3', '   ', '///', '@'])('an engine cannot be called %j', (name) => {
    expect(() => checkedEngineName(name)).toThrow(HearthError);
  });
});

describe('addresses', () => {
  it.each([
    ['http://10.0.0.5:8000', 'http://10.0.0.5:8000/v1'],
    ['http://localhost:8000/v1/', 'http://localhost:8000/v1'],
    [' https://api.example.com/openai/v1 ', 'https://api.example.com/openai/v1'],
    ['http://[::1]:80/', 'http://[::1]/v1'],
  ])('%s is %s', (typed, expected) => expect(checkedUrl(typed)).toBe(expected));

  it.each([
    '',
    'lab',
    'ftp://x/v1',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://user:pw@x/v1',
    'http://x/v1?key=1',
    'http://x/v1#a',
  ])('%j is refused', (typed) => expect(() => checkedUrl(typed)).toThrow(HearthError));
});

describe('failures', () => {
  it.each([
    [401, {}, 'remote_key_refused'],
    [403, {}, 'remote_key_refused'],
    [404, { error: { message: 'The model `x` does not exist.' } }, 'model_not_found'],
    [429, {}, 'queue_full'],
    [500, undefined, 'remote_failed'],
    [302, undefined, 'remote_failed'],
    [413, {}, 'payload_too_large'],
    [
      400,
      { object: 'error', message: "This model's maximum context length is 100 tokens." },
      'context_length_exceeded',
    ],
    [400, { error: { code: 'context_length_exceeded', message: 'x' } }, 'context_length_exceeded'],
    [400, { detail: 'no' }, 'invalid_request'],
    [422, { error: 5 }, 'invalid_request'],
  ])('status %i with %j is %s', (status, body, code) => {
    expect(errorOfStatus(status, body, 'lab')).toMatchObject({ code, message: expect.stringMatching(/^lab /) });
  });

  it('what an engine says is shortened, cleaned, and never holds the key', () => {
    const { message } = errorOfStatus(
      400,
      { error: { message: `key-123\u0007\n${'x'.repeat(5000)}` } },
      'lab',
      'key-123',
    );
    expect(message).toContain('***');
    expect(message.length).toBeLessThan(400);
    expect(message).not.toMatch(/key-123|\p{Cc}/u);
  });
});

describe('health', () => {
  it('an engine that is away is asked less and less often', () => {
    expect([0, 1, 2, 3, 4, 50].map(nextCheckMs)).toEqual([60_000, 120_000, 240_000, 480_000, 900_000, 900_000]);
  });

  it.each([
    [{ latencyMs: 50 }, 'ok'],
    [{ latencyMs: 5000 }, 'slow'],
    [{ latencyMs: 5, error: new HearthError('unreachable', 'x') }, 'unreachable'],
    [{ latencyMs: 5, error: new HearthError('remote_key_refused', 'x') }, 'refused'],
    [{ latencyMs: 5, error: new HearthError('remote_failed', 'x') }, 'unreachable'],
  ])('%j is %s', (answered, state) => expect(healthOf(answered, 1).state).toBe(state));
});
