// The official `openai` client against the whole app: real engine, real model. Skipped where one of them is missing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type App } from '../../electron/app';
import { missing, modelPath } from '../integration/engine-model';

const messages = [{ role: 'user' as const, content: 'Hello! Who are you?' }];

/** The one text that a schema leaves possible: it tells what the model had to write. */
function only(text: string) {
  const schema = {
    type: 'object',
    properties: { v: { type: 'string', enum: [text] } },
    required: ['v'],
    additionalProperties: false,
  };
  return { type: 'json_schema' as const, json_schema: { name: 'v', strict: true, schema } };
}

describe.skipIf(missing !== undefined)('the official client and a real model', () => {
  let app: App;
  let client: OpenAI;
  let model: string;
  const folder = mkdtempSync(join(tmpdir(), 'hearth-clients-'));

  beforeAll(async () => {
    app = await startApp({ dataDir: folder, port: 0, model: modelPath });
    client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
    model = (await app.library.open(modelPath)).name;
  });
  afterAll(async () => {
    await app?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('streams an answer whose usage adds up', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let finish: string | null = null;
    let usage: OpenAI.CompletionUsage | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    expect(text.length).toBeGreaterThan(0);
    expect(text).not.toMatch(/<\|\w+\|>/);
    expect(['stop', 'length']).toContain(finish);
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  });

  it('the same seed gives the same answer, and greedy ones are the same warm and cold', async () => {
    const answer = async (fields: object) => {
      const { choices } = await client.chat.completions.create({
        model,
        messages,
        max_completion_tokens: 48,
        ...fields,
      });
      return choices[0]?.message;
    };
    expect(await answer({ seed: 42, temperature: 1 })).toEqual(await answer({ seed: 42, temperature: 1 }));
    expect(await answer({ temperature: 0 })).toEqual(await answer({ temperature: 0 }));
  });

  it('a prompt that was read before is found again, said so, and answered the same', async () => {
    const log = { role: 'system' as const, content: 'You keep the harbour log. '.repeat(30) };
    const ask = async () => {
      const { choices, usage } = await client.chat.completions.create({
        model,
        messages: [log, { role: 'user', content: 'Entry for Monday?' }],
        temperature: 0,
        max_completion_tokens: 48,
      });
      return { message: choices[0]?.message, usage };
    };
    const [cold, warm, again] = [await ask(), await ask(), await ask()];
    expect(warm.message).toEqual(cold.message);
    expect(again.message).toEqual(cold.message);
    expect(warm.usage?.prompt_tokens).toBe(cold.usage?.prompt_tokens);
    const share = ({ usage }: typeof cold) =>
      (usage?.prompt_tokens_details?.cached_tokens ?? 0) / (usage?.prompt_tokens ?? 0);
    // What every chat of this model begins with may have been read by another one.
    expect(share(cold)).toBeLessThan(0.5);
    for (const found of [warm, again]) {
      expect(share(found)).toBeGreaterThan(0.5);
      expect(share(found)).toBeLessThan(1);
    }
  });

  it('a limit is kept and told', async () => {
    const { choices, usage } = await client.chat.completions.create({ model, messages, max_completion_tokens: 3 });
    expect(choices[0]?.finish_reason).toBe('length');
    expect(usage?.completion_tokens).toBeLessThanOrEqual(3);
  });

  it('a schema is obeyed, whole characters in a stream too', async () => {
    const wanted = '🏔️ 漁師 🧑‍🚀 é';
    const final = await client.chat.completions
      .stream({ model, messages, response_format: only(wanted) })
      .finalContent();
    expect(JSON.parse(final ?? '')).toEqual({ v: wanted });
  });

  it('a stop text ends the answer before it', async () => {
    const { choices } = await client.chat.completions.create({
      model,
      messages,
      response_format: only('alpha beta gamma delta'),
      stop: 'beta gamma',
    });
    expect(choices[0]?.message.content).toMatch(/alpha ?$/);
    expect(choices[0]?.finish_reason).toBe('stop');
  });

  it('a tool that must be called is called', async () => {
    const parameters = {
      type: 'object',
      properties: { room: { type: 'string', enum: ['attic', 'cellar'] } },
      required: ['room'],
      additionalProperties: false,
    };
    const { choices } = await client.chat.completions.create({
      model,
      messages,
      tools: [{ type: 'function', function: { name: 'read_sensor', parameters } }],
      tool_choice: { type: 'function', function: { name: 'read_sensor' } },
    });
    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ type: 'function', function: { name: 'read_sensor' } });
    const { arguments: args } = call?.type === 'function' ? call.function : { arguments: '' };
    expect(['attic', 'cellar']).toContain((JSON.parse(args) as { room: string }).room);
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('logprobs are of the visible text, token by token', async () => {
    const { choices } = await client.chat.completions.create({
      model,
      messages,
      logprobs: true,
      top_logprobs: 2,
      temperature: 0,
    });
    const entries = choices[0]?.logprobs?.content ?? [];
    const bytes = Buffer.from(entries.flatMap((entry) => entry.bytes ?? []));
    expect(bytes.toString()).toBe(choices[0]?.message.content);
    expect(entries.every((entry) => entry.logprob <= 0 && entry.top_logprobs.length === 2)).toBe(true);
  });

  it('raw completions score their prompt', async () => {
    const { choices } = await client.completions.create({
      model,
      prompt: 'hello world',
      echo: true,
      logprobs: 1,
      max_tokens: 1,
    });
    const {
      tokens = [],
      token_logprobs: values = [],
      text_offset: offsets = [],
      top_logprobs: top = [],
    } = choices[0]?.logprobs ?? {};
    expect(tokens.join('')).toBe(choices[0]?.text);
    expect(choices[0]?.text.startsWith('hello world')).toBe(true);
    expect([values[0], top[0]]).toEqual([null, null]);
    expect(new Set([tokens.length, values.length, offsets.length, top.length]).size).toBe(1);
  });

  it('errors are those of the client', async () => {
    await expect(client.chat.completions.create({ model: 'no-such-model-7b', messages })).rejects.toBeInstanceOf(
      NotFoundError,
    );
    const long = [{ role: 'user' as const, content: 'quay '.repeat(400_000) }];
    const error: unknown = await client.chat.completions
      .create({ model, messages: long })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect((error as BadRequestError).code).toBe('context_length_exceeded');
    expect((error as BadRequestError).message).toMatch(/\d{3,}.*\d{3,}/);
  });

  it('letting go frees the engine', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      temperature: 1.5,
      max_completion_tokens: 100_000,
    });
    for await (const _ of stream) break;
    const left = Date.now();
    while (app.supervisor.queue().running > 0 && Date.now() - left < 2000)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(Date.now() - left).toBeLessThan(500);
  });
});
