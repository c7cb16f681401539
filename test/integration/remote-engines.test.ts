// A second real Hearth, and an engine from a script, as remote engines of a first one: through its API, its stream, its tools and its chats.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { App } from '../../electron/app';
import { remoteEngine } from '../../electron/contract/models';
import { appState, chatWithMessages, modelEntry } from '../../electron/contract/own';
import { callsTool, endless, KEY, says, startStub } from '../unit/supervisor/remote/stub-engine';
import { missing, modelPath } from './engine-model';
import { ask, hearth } from './hearths';

const TIMEOUT = 120_000;

const add = async (app: App, body: object) =>
  remoteEngine.parse((await ask(app, 'POST', '/hearth/v1/remote-engines', body)).body);

/** A streamed answer, put together again. */
async function streamed(app: App, body: object) {
  const response = await fetch(new URL('/v1/chat/completions', app.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
  });
  const answer = {
    status: response.status,
    mesh: response.headers.get('x-hearth-mesh'),
    text: '',
    reasoning: '',
    calls: [] as string[],
    finish: '',
    usage: undefined as unknown,
    chunks: 0,
  };
  for (const block of (await response.text()).split('\n\n')) {
    const data = block.replace(/^data: /, '');
    if (!block.startsWith('data: ') || data === '[DONE]') continue;
    const { choices, usage, error } = JSON.parse(data);
    if (error) throw new Error(error.message);
    answer.usage = usage ?? answer.usage;
    const [choice] = choices;
    if (!choice) continue;
    answer.chunks += 1;
    answer.text += choice.delta.content ?? '';
    answer.reasoning += choice.delta.reasoning_content ?? '';
    for (const call of choice.delta.tool_calls ?? []) {
      answer.calls[call.index] =
        `${answer.calls[call.index] ?? ''}${call.function.name ?? ''}${call.function.arguments ?? ''}`;
    }
    answer.finish = choice.finish_reason ?? answer.finish;
  }
  return answer;
}

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', enum: ['Ulm', 'Bonn'] } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};

it.skipIf(missing)(
  'a second Hearth answers through the first one as it does by itself, with tools, and is marked as remote',
  async () => {
    const [first, second] = [await hearth(), await hearth()];
    const local = (await second.library.open(modelPath)).name;
    const engine = await add(first, { name: 'Second One', url: `${second.url}/v1`, key: second.token });
    expect(engine).toMatchObject({ hasKey: true, health: { state: 'ok' }, models: [`${local}@second-one`] });
    const model = `${local}@second-one`;

    const { models } = (await ask(first, 'GET', '/hearth/v1/models')).body;
    expect(
      modelEntry
        .array()
        .parse(models)
        .find(({ name }) => name === model),
    ).toMatchObject({ remote: 'Second One', state: 'available' });
    const { data } = (await ask(first, 'GET', '/v1/models')).body;
    expect(data.find(({ id }: { id: string }) => id === model)).toMatchObject({
      owned_by: 'remote',
      hearth: { remote: 'Second One' },
    });

    const question = {
      messages: [{ role: 'user', content: 'What is Hearth?' }],
      temperature: 0,
      seed: 5,
      max_tokens: 60,
    };
    const there = await streamed(second, { ...question, model: local });
    const through = await streamed(first, { ...question, model });
    expect({ ...through, mesh: '', chunks: 0, usage: 0 }).toEqual({ ...there, mesh: '', chunks: 0, usage: 0 });
    expect(through.text + through.reasoning).not.toBe('');
    expect(through.chunks).toBeGreaterThan(5);
    expect(through.mesh).toBe(`remote ${second.url}/v1`);
    expect(through.usage).toMatchObject({
      completion_tokens: (there.usage as { completion_tokens: number }).completion_tokens,
    });

    const tools = {
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      max_tokens: 400,
    };
    const call = await streamed(first, { ...question, ...tools, model });
    expect(call).toMatchObject({ finish: 'tool_calls' });
    expect(call.calls).toHaveLength(1);
    expect(call.calls[0]).toMatch(/^weather\{\s*"city"\s*:\s*"(Ulm|Bonn)"\s*\}$/);

    const { id } = (await ask(first, 'POST', '/hearth/v1/chats', {})).body;
    await ask(first, 'POST', `/hearth/v1/chats/${id}/turns`, { text: 'What is Hearth?', model });
    const chat = async () => chatWithMessages.parse((await ask(first, 'GET', `/hearth/v1/chats/${id}`)).body);
    await expect.poll(async () => (await chat()).messages[1]?.status, { timeout: 30_000 }).toBe('complete');
    expect((await chat()).messages[1]?.receipt).toMatchObject({
      model,
      modelId: 'remote',
      engineBuild: 'Second One',
      mesh: `remote ${second.url}/v1`,
    });
    // It is in use beside the local one, which stays in memory.
    const { loaded } = appState.parse((await ask(first, 'GET', '/hearth/v1/state')).body);
    expect(loaded.find(({ name }) => name === model)).toMatchObject({ state: 'ready', remote: 'Second One' });
    expect(loaded.find(({ name }) => name === local)).toMatchObject({ state: 'ready' });
    // What is elsewhere is not measured as if it were here.
    const { rows } = (await ask(first, 'GET', '/hearth/v1/matrix')).body;
    expect(rows.filter((row: { modelId: string }) => row.modelId === 'remote')).toEqual([]);
  },
  TIMEOUT,
);

it.skipIf(missing)(
  'an engine like vLLM: streaming, tools, stop, errors, and its key is in no answer, log or file but the database',
  async () => {
    const app = await hearth();
    const stub = await startStub(says('From', ' afar.'));
    const engine = await add(app, { name: 'lab', url: stub.url, key: KEY });
    const model = 'org/big-model@lab';
    const body = { model, messages: [{ role: 'user', content: 'Hi' }] };
    expect(await streamed(app, body)).toMatchObject({
      text: 'From afar.',
      finish: 'stop',
      usage: { prompt_tokens: 12, completion_tokens: 8 },
    });
    expect((await ask(app, 'POST', '/v1/chat/completions', body)).body.choices[0].message.content).toBe('From afar.');

    stub.respond = callsTool;
    expect(await streamed(app, { ...body, tools: [weather] })).toMatchObject({
      reasoning: 'I need the weather.',
      calls: ['weather{"city":"Ulm"}'],
      finish: 'tool_calls',
    });
    expect(stub.asked.at(-1)?.body.tools).toEqual([weather]);

    stub.respond = endless;
    const leave = new AbortController();
    const cut = fetch(new URL('/v1/chat/completions', app.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
      signal: leave.signal,
    });
    await (await cut).body?.getReader().read();
    const before = stub.cutOff.length;
    leave.abort();
    await expect.poll(() => stub.cutOff.length).toBe(before + 1);

    await stub.close();
    const failed = await ask(app, 'POST', '/v1/chat/completions', body);
    expect([failed.status, failed.body.error.code]).toEqual([502, 'unreachable']);
    const near = await ask(app, 'POST', '/v1/chat/completions', { ...body, model: 'big-model@lab' });
    expect([near.status, near.body.error.message]).toEqual([404, expect.stringContaining(model)]);

    const shown = [
      await ask(app, 'GET', '/hearth/v1/remote-engines'),
      await ask(app, 'GET', '/hearth/v1/state'),
      failed,
    ].map(({ body: one }) => one);
    expect(JSON.stringify(shown)).not.toContain(KEY);
    for (const file of readdirSync(join(app.folder, 'logs'))) {
      expect(readFileSync(join(app.folder, 'logs', file), 'utf8')).not.toContain(KEY);
    }
    expect((await ask(app, 'DELETE', `/hearth/v1/remote-engines/${engine.id}`)).status).toBe(204);
    expect((await ask(app, 'POST', '/v1/chat/completions', body)).status).toBe(404);
    expect((await ask(app, 'POST', '/hearth/v1/remote-engines', { name: 'x', url: 'file:///etc/passwd' })).status).toBe(
      400,
    );
  },
  TIMEOUT,
);
