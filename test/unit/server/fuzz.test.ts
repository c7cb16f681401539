// Bodies that no client sends on purpose: whatever comes, the answer is an error object or an answer, and the server goes on.
import { describe, expect, it } from 'vitest';
import { ask, authorized, chat, startServer } from './harness';

function randomFrom(seed: number) {
  let state = seed;
  return (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
}

const ODD = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'x',
  '\u0000',
  [],
  {},
  [[]],
  [{}],
  { type: 'text' },
  '__proto__',
  Number.MAX_SAFE_INTEGER,
  'x'.repeat(5000),
];

const CHAT = {
  model: 'gpt-oss-20b',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'x' },
  ],
  tools: [
    { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } } },
  ],
  tool_choice: { type: 'function', function: { name: 'f' } },
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
  stream: false,
  stream_options: { include_usage: true },
  stop: ['x'],
  logit_bias: { '1': 1 },
  temperature: 1,
  top_p: 1,
  seed: 1,
  n: 1,
  max_completion_tokens: 10,
  logprobs: true,
  top_logprobs: 2,
  reasoning_effort: 'low',
};

const COMPLETION = {
  model: 'gpt-oss-20b',
  prompt: [[1, 2], [3]],
  max_tokens: 2,
  echo: false,
  logprobs: 1,
  stop: 'x',
  n: 1,
};
const TURN = { text: 'Hi', parentId: null, model: 'gpt-oss-20b' };
const SETTINGS = {
  theme: 'dark',
  chat: { effort: 'low', memory: 'all' },
  allowedOrigins: ['http://localhost:1'],
  lastModel: 'x',
};
const CHAT_PATCH = { title: 'x', headId: 'y', settings: { effort: 'low', instructions: 'z' } };

/** The value with one place changed, taken away or doubled. */
function mutate(value: unknown, random: (below: number) => number): unknown {
  if (typeof value !== 'object' || value === null || random(4) === 0) return ODD[random(ODD.length)];
  if (Array.isArray(value)) {
    const copy = [...value] as unknown[];
    const at = random(copy.length + 1);
    if (at === copy.length) return [...copy, ODD[random(ODD.length)]];
    copy[at] = mutate(copy[at], random);
    return copy;
  }
  const entries = Object.entries(value);
  const [key = 'extra', inner] = entries[random(entries.length + 1)] ?? [];
  const action = random(5);
  if (action === 0) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return { ...value, [key]: mutate(inner, random) };
}

const TARGETS: [string, string, object][] = [
  ['POST', '/v1/chat/completions', CHAT],
  ['POST', '/v1/completions', COMPLETION],
  ['PATCH', '/hearth/v1/settings', SETTINGS],
  ['POST', '/hearth/v1/chats', CHAT_PATCH],
  ['POST', '/hearth/v1/models/load', { model: 'plain' }],
];

describe('nonsense', () => {
  it.each(TARGETS)('%s %s survives it', async (method, path, base) => {
    const server = await startServer();
    const random = randomFrom(path.length * 7919);
    let refused = 0;
    for (let round = 0; round < 400; round++) {
      let body = mutate(base, random);
      if (random(2) === 0) body = mutate(body, random);
      const reply = await ask(server, method, path, { headers: authorized, body: JSON.stringify(body) ?? 'null' });
      if (reply.status >= 500)
        throw new Error(`${reply.status} ${reply.raw} for ${JSON.stringify(body).slice(0, 500)}`);
      if (reply.status < 400) continue;
      refused++;
      expect(typeof reply.body.error.message).toBe('string');
    }
    expect(refused).toBeGreaterThan(50);
    expect((await chat(server, {})).status).toBe(200);
  });

  it('turns and chats survive it', async () => {
    const server = await startServer();
    const random = randomFrom(4711);
    const { body: made } = await ask(server, 'POST', '/hearth/v1/chats', { headers: authorized });
    for (let round = 0; round < 300; round++) {
      const [method, path, base] = random(2) === 0 ? ['POST', '/turns', TURN] : ['PATCH', '', CHAT_PATCH];
      const body = JSON.stringify(mutate(base, random)) ?? 'null';
      const reply = await ask(server, String(method), `/hearth/v1/chats/${made.id}${String(path)}`, {
        headers: authorized,
        body,
      });
      if (reply.status >= 500) throw new Error(`${reply.status} ${reply.raw} for ${body.slice(0, 500)}`);
    }
    expect((await ask(server, 'GET', `/hearth/v1/chats/${made.id}`, { headers: authorized })).status).toBe(200);
  });
});
