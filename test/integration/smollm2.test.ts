// A real model through the whole app: file, engine, tokenizer, template, supervisor, server, official client. Failures prevented:
// parts that are each right and together talk nonsense.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type App } from '../../electron/app';
import { addonPath } from '../../electron/runtime/addon';
import { missingOracles, smollm2 } from '../oracles/oracle';

const COLOURS =
  /\b(red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ae]y|teal|turquoise|indigo|gold)\b/gi;

describe.skipIf(missingOracles ?? (addonPath() === null && 'the addon is not built'))('SmolLM2', () => {
  let folder: string;
  let app: App;
  let client: OpenAI;
  let model: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hearth-smollm2-'));
    app = await startApp({ dataDir: folder, port: 0, model: smollm2() });
    client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: app.token, maxRetries: 0 });
    model = (await app.library.open(smollm2())).name;
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const question = (content: string) => ({
    model,
    messages: [{ role: 'user' as const, content }],
    temperature: 0,
    max_tokens: 60,
  });
  const ask = async (content: string) => {
    const answer = await client.chat.completions.create(question(content));
    const text = answer.choices[0]?.message.content ?? '';
    console.info(`${content} → ${text}`);
    return text;
  };

  it.each([
    ['What is the capital of France?', /\bParis\b/],
    ['What is 2+2?', /\b(4|four)\b/i],
    ['What is the opposite of hot?', /\bcold\b/i],
  ])('answers %s', { timeout: 120_000 }, async (content, right) => {
    expect(await ask(content)).toMatch(right);
  });

  it('names three colours', { timeout: 120_000 }, async () => {
    const named = (await ask('Name three colors.')).toLowerCase().match(COLOURS);
    expect(new Set(named).size).toBeGreaterThanOrEqual(3);
  });

  it('keeps to a schema, and is told off where only the last check can see', { timeout: 120_000 }, async () => {
    const withBounds = (bounds: object) => ({
      ...question('What is 2+2?'),
      response_format: {
        type: 'json_schema' as const,
        json_schema: {
          name: 'sum',
          schema: {
            type: 'object',
            properties: { sum: { type: 'number', ...bounds } },
            required: ['sum'],
            additionalProperties: false,
          },
        },
      },
    });
    const answer = await client.chat.completions.create(withBounds({}));
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    const { sum } = JSON.parse(answer.choices[0]?.message.content ?? '') as { sum: number };
    const refused = client.chat.completions.create(withBounds({ maximum: sum - 1 }));
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'unsupported_schema' });
  });

  it('streams the same answer, word by word, to the official client', { timeout: 120_000 }, async () => {
    const content = 'What is the capital of France?';
    const stream = await client.chat.completions.create({ ...question(content), stream: true });
    const pieces: string[] = [];
    let finish: string | null = null;
    for await (const { choices } of stream) {
      const [choice] = choices;
      if (choice?.delta.content) pieces.push(choice.delta.content);
      finish = choice?.finish_reason ?? finish;
    }
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join('')).toBe(await ask(content));
    expect(finish).toBe('stop');
  });
});
