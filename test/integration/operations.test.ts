// A server in use, with the real engine: answers that depend on what was asked before, models beside each other. What stays behind
// over hundreds of requests is the business of scripts/long/leaks.mjs.
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type App } from '../../electron/app';
import { until } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

describe.skipIf(missing)('the whole app', () => {
  let folder: string;
  let app: App;
  let client: OpenAI;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hearth-operations-'));
    mkdirSync(join(folder, 'models'));
    copyFileSync(modelPath, join(folder, 'models/other.gguf'));
    // The same content twice would be one model in memory.
    appendFileSync(join(folder, 'models/other.gguf'), Buffer.alloc(32));
    app = await startApp({ port: 0, dataDir: folder, model: modelPath });
    client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none', maxRetries: 0 });
    await until(() => app.supervisor.active()?.state === 'ready', 55_000);
  });
  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const model = () => app.supervisor.active()?.name ?? '';

  it('gives warm and cold answers alike at temperature 0, and says what it found again', async () => {
    const ask = () =>
      client.chat.completions.create({
        model: model(),
        messages: [
          { role: 'system', content: 'You keep the harbour log. '.repeat(30) },
          { role: 'user', content: 'Entry for Monday?' },
        ],
        temperature: 0,
        max_completion_tokens: 48,
      });
    const cold = await ask();
    const prompt = cold.usage?.prompt_tokens ?? 0;
    expect(cold.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
    for (let time = 0; time < 2; time++) {
      const { choices, usage } = await ask();
      expect(choices[0]?.message).toEqual(cold.choices[0]?.message);
      expect(usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: cold.usage?.completion_tokens });
      // All but the last token and what does not fill a block.
      expect(usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(prompt - 18);
    }
  });

  it('lets an answer end when another model is asked for meanwhile, which then answers too', async () => {
    const first = model();
    const second = 'other';
    expect(second).not.toBe(first);
    const stream = await client.chat.completions.create({
      model: first,
      messages: [{ role: 'user', content: 'Count to 50, a number a line.' }],
      stream: true,
      max_completion_tokens: 300,
    });
    let other: Promise<OpenAI.ChatCompletion> | undefined;
    let reason: string | null = null;
    for await (const chunk of stream) {
      other ??= client.chat.completions.create({
        model: second,
        messages: [{ role: 'user', content: 'Say hi.' }],
        max_completion_tokens: 16,
      });
      reason = chunk.choices[0]?.finish_reason ?? reason;
    }
    expect(['stop', 'length']).toContain(reason);
    expect((await other)?.usage?.completion_tokens).toBeGreaterThan(0);
    // Both fit: what was asked for by a program is in memory beside what the person chose.
    expect(model()).toBe(first);
    expect(app.supervisor.models().map(({ name }) => name)).toEqual([first, second]);
  });
});
