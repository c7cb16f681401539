// What a body of /v1/chat/completions means in the contract's words.
import { describe, expect, it } from 'vitest';
import type { ChatInput } from '../../../electron/contract/chat';
import { HearthError } from '../../../electron/contract/errors';
import { THOUGHT_TOKENS } from '../../../electron/contract/own';
import { chatRequest } from '../../../electron/server/openai/chat-request';
import { contentText } from '../../../electron/server/openai/messages';

const user = { role: 'user', content: 'Hi' };
const read = (fields: object) => chatRequest({ model: 'm', messages: [user], ...fields }, '2026-11-29', '');
const workOf = (fields: object) => {
  const [work] = read(fields).works;
  if (!work) throw new Error('no work');
  return work;
};
const chatOf = (fields: object) => (workOf(fields).input as { chat: ChatInput }).chat;

function refusal(fields: object): HearthError {
  try {
    read(fields);
  } catch (error) {
    if (error instanceof HearthError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const tools = [
  {
    type: 'function',
    function: { name: 'read_sensor', description: 'Reads.', parameters: { type: 'object' }, strict: true },
  },
  { type: 'function', function: { name: 'read_clock' } },
];

describe('messages in all their spellings', () => {
  it('parts of every role are one text, in order', () => {
    const parts = [
      { type: 'text', text: 'Colour of ' },
      { type: 'text', text: 'grass?' },
    ];
    const messages = ['system', 'developer', 'user', 'assistant'].map((role) => ({ role, content: parts }));
    expect(chatOf({ messages }).messages.map((message) => message.content)).toEqual(Array(4).fill('Colour of grass?'));
  });

  it('an assistant message may have null, no or empty content beside its tool calls', () => {
    for (const content of [null, undefined, '', []]) {
      const messages = [
        user,
        {
          role: 'assistant',
          content,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read_sensor', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '11.5' }] },
      ];
      expect(chatOf({ messages }).messages.slice(1)).toEqual([
        { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'read_sensor', arguments: '{"a":1}' }] },
        { role: 'tool', content: '11.5', toolCallId: 'c1', name: 'read_sensor' },
      ]);
    }
  });

  it('arguments that were parsed by a client are text again, as the model wrote them otherwise', () => {
    const call = (args: unknown) => ({
      role: 'assistant',
      tool_calls: [{ id: 'c', function: { name: 'f', arguments: args } }],
    });
    const given = (args: unknown) => chatOf({ messages: [user, call(args)] }).messages[1]?.toolCalls?.[0]?.arguments;
    expect(given({ a: 1 })).toBe('{"a":1}');
    expect(given('not { json')).toBe('not { json');
    expect(given(undefined)).toBe('');
  });

  it.each(['reasoning_content', 'reasoning', 'thinking'])('thoughts come back under %s', (name) => {
    const messages = [user, { role: 'assistant', content: 'Yes.', [name]: 'Hm.' }, user];
    expect(chatOf({ messages }).messages[1]?.reasoning).toBe('Hm.');
  });

  it.each<[string, object, string]>([
    ['no messages', { messages: [] }, 'messages'],
    ['messages that are no list', { messages: user }, 'messages'],
    ['missing messages', { messages: undefined }, 'messages'],
    ['a message that is a text', { messages: ['hi'] }, 'messages[0]'],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    ['a missing role', { messages: [{ content: 'x' }] }, 'messages[0].role'],
    ['a user without content', { messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
    ['content that is a number', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [
      'a part without text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
    ],
    [
      'a picture',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      'messages[0].content[0].type',
    ],
    [
      'a result of no call',
      { messages: [user, { role: 'tool', tool_call_id: 'c9', content: 'x' }] },
      'messages[1].tool_call_id',
    ],
    [
      'a call without a name',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: {} }] }] },
      'messages[0].tool_calls[0].function.name',
    ],
    ['the legacy role', { messages: [{ role: 'function', name: 'f', content: 'x' }] }, 'messages[0].role'],
  ])('%s is refused by the field that is at fault', (_name, fields, param) => {
    expect(refusal(fields)).toMatchObject({ status: 400, param });
  });

  it('content is text, parts or nothing', () => {
    expect(contentText('a', 'x')).toBe('a');
    expect(contentText(null, 'x')).toBeNull();
    expect(contentText(['a', { type: 'input_text', text: 'b' }], 'x')).toBe('ab');
  });
});

describe('fields', () => {
  it('fields that nobody knows, and known ones that are null, change nothing', () => {
    const nulls = Object.fromEntries(
      [
        'temperature',
        'top_p',
        'stop',
        'n',
        'seed',
        'tools',
        'tool_choice',
        'response_format',
        'max_tokens',
        'logprobs',
        'stream',
        'logit_bias',
        'functions',
        'user',
      ].map((name) => [name, null]),
    );
    const { sampling, ...work } = workOf({
      ...nulls,
      metadata: { a: 1 },
      store: true,
      invented: [1],
      parallel_tool_calls: false,
    });
    const { sampling: other, ...plain } = workOf({});
    expect(work).toEqual(plain);
    expect({ ...sampling, seed: 0 }).toEqual({ ...other, seed: 0 });
  });

  it.each<[object, string, number]>([
    [{ functions: [{ name: 'f' }] }, 'functions', 400],
    [{ function_call: 'auto' }, 'function_call', 400],
    [{ audio: { voice: 'x' } }, 'audio', 400],
    [{ modalities: ['text', 'audio'] }, 'modalities', 400],
    [{ web_search_options: {} }, 'web_search_options', 400],
    [{ n: 0 }, 'n', 400],
    [{ n: 9 }, 'n', 400],
    [{ temperature: 2.1 }, 'temperature', 400],
    [{ temperature: 'hot' }, 'temperature', 400],
    [{ top_p: -0.1 }, 'top_p', 400],
    [{ presence_penalty: 3 }, 'presence_penalty', 400],
    [{ seed: 1.5 }, 'seed', 400],
    [{ max_tokens: 0 }, 'max_tokens', 400],
    [{ max_completion_tokens: 0 }, 'max_completion_tokens', 400],
    [{ max_completion_tokens: 1.5 }, 'max_completion_tokens', 400],
    [{ top_logprobs: 3 }, 'top_logprobs', 400],
    [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs', 400],
    [{ logit_bias: { hello: 1 } }, 'logit_bias', 400],
    [{ logit_bias: { 5: 101 } }, 'logit_bias.5', 400],
    [{ logit_bias: [1] }, 'logit_bias', 400],
    [{ stop: Array(17).fill('x') }, 'stop', 400],
    [{ stop: 5 }, 'stop', 400],
    [{ stream: 'yes' }, 'stream', 400],
    [{ reasoning_effort: 'extreme' }, 'reasoning_effort', 400],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', 400],
    [{ tools: [{ type: 'function', function: { name: 'has space' } }] }, 'tools[0].function.name', 400],
    [{ tools: [...tools, tools[0]] }, 'tools[2].function.name', 400],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function', 400],
    [{ tools: {} }, 'tools', 400],
    [{ tool_choice: 'required' }, 'tool_choice', 400],
    [{ tools, tool_choice: 'sometimes' }, 'tool_choice', 400],
    [{ tools, tool_choice: { type: 'function', function: { name: 'other' } } }, 'tool_choice', 400],
    [{ tools, tool_choice: { type: 'allowed_tools' } }, 'tool_choice', 400],
    [{ response_format: { type: 'xml' } }, 'response_format.type', 400],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema', 400],
    [{ response_format: { type: 'json_schema', json_schema: { name: 'x' } } }, 'response_format.json_schema', 400],
    [{ model: undefined }, 'model', 400],
    [{ model: 5 }, 'model', 400],
    [{ model: '' }, 'model', 400],
  ])('%j is refused by name', (fields, param, status) => {
    const error = refusal(fields);
    expect([error.param, error.status]).toEqual([param, status]);
    expect(error.message).toContain(param.split(/[.[]/)[0]);
  });

  it('stop may be a text, a list, empty or nothing', () => {
    expect(workOf({ stop: 'x' }).stop).toEqual(['x']);
    expect(workOf({ stop: ['x', '', 'y'] }).stop).toEqual(['x', 'y']);
    for (const stop of ['', [], null, undefined]) expect(workOf({ stop }).stop).toEqual([]);
  });

  it('the newer limit wins, -1 is none', () => {
    expect(workOf({ max_tokens: 5 }).maxTokens).toBe(5);
    expect(workOf({ max_tokens: 5, max_completion_tokens: 7 }).maxTokens).toBe(7);
    expect(workOf({ max_tokens: -1 }).maxTokens).toBeUndefined();
  });

  it('sampling fields arrive under their own names', () => {
    const { sampling } = workOf({
      temperature: 0,
      top_p: 0.9,
      top_k: -1,
      min_p: 0.05,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      repetition_penalty: 1.1,
      seed: 42,
      logit_bias: { '17': 100, '18': -100 },
    });
    expect(sampling).toEqual({
      temperature: 0,
      topP: 0.9,
      topK: 0,
      minP: 0.05,
      frequencyPenalty: 0.5,
      presencePenalty: -0.5,
      repetitionPenalty: 1.1,
      seed: 42,
      logitBias: [
        [17, 100],
        [18, -100],
      ],
    });
    expect(workOf({ top_p: 0 }).sampling.topP).toBeGreaterThan(0);
  });

  it('every integer is a seed, the same one each time; without one it is drawn', () => {
    for (const seed of [0, -1, -42, 2 ** 53, -(2 ** 63), 1e300]) {
      const { sampling } = workOf({ seed });
      expect(sampling.seed).toBe(workOf({ seed }).sampling.seed);
      expect(sampling.seed >= 0 && Number.isSafeInteger(sampling.seed)).toBe(true);
    }
    expect(workOf({}).sampling.seed).not.toBe(workOf({}).sampling.seed);
  });

  it('several answers have seeds of their own', () => {
    const { works } = read({ n: 3, seed: 7 });
    expect(works.map((work) => work.sampling.seed)).toEqual([7, 8, 9]);
  });

  it.each([
    [undefined, 'medium', THOUGHT_TOKENS.medium],
    ['none', 'low', 0],
    ['minimal', 'low', 128],
    ['low', 'low', THOUGHT_TOKENS.low],
    ['high', 'high', THOUGHT_TOKENS.high],
    ['xhigh', 'high', 4 * THOUGHT_TOKENS.high],
  ])('effort %s', (effort, level, thoughts) => {
    expect(chatOf({ reasoning_effort: effort }).effort).toBe(level);
    expect(workOf({ reasoning_effort: effort }).thoughtTokens).toBe(thoughts);
    expect(workOf({ reasoning: { effort } }).thoughtTokens).toBe(thoughts);
  });

  it('a limit below the cap on thoughts ends the answer by itself', () => {
    expect(workOf({ max_completion_tokens: 5 }).thoughtTokens).toBeUndefined();
    expect(workOf({ max_completion_tokens: 100_000 }).thoughtTokens).toBe(THOUGHT_TOKENS.medium);
    expect(workOf({ max_completion_tokens: 5, reasoning_effort: 'none' }).thoughtTokens).toBe(0);
  });

  it('tools and the choice among them', () => {
    expect(chatOf({ tools }).tools).toEqual([
      { name: 'read_sensor', description: 'Reads.', parameters: { type: 'object' } },
      { name: 'read_clock' },
    ]);
    expect(chatOf({ tools }).toolChoice).toBe('auto');
    expect(chatOf({ tools, tool_choice: 'required' }).toolChoice).toBe('required');
    expect(chatOf({ tools, tool_choice: { type: 'function', function: { name: 'read_clock' } } }).toolChoice).toEqual({
      name: 'read_clock',
    });
    expect(chatOf({ tools: [], tool_choice: 'auto' }).toolChoice).toBe('auto');
  });

  it('formats', () => {
    const schema = { type: 'object', properties: {} };
    expect(
      chatOf({ response_format: { type: 'json_schema', json_schema: { name: 'v', strict: true, schema } } })
        .responseFormat,
    ).toEqual({
      type: 'json_schema',
      name: 'v',
      schema,
    });
    expect(chatOf({ response_format: { type: 'json_object' } }).responseFormat).toEqual({ type: 'json_object' });
    expect(chatOf({}).responseFormat).toEqual({ type: 'text' });
  });

  it('work that can wait is background work', () => {
    expect(workOf({}).priority).toBe('interactive');
    expect(workOf({ service_tier: 'flex' }).priority).toBe('background');
  });
});
