// /v1/completions over HTTP, with a supervisor that plays the model.
import { describe, expect, it } from 'vitest';
import type { TokenLogprob } from '../../../electron/contract/chat';
import { says } from './fake-supervisor';
import { ask, eventsOf, startServer, type Harness } from './harness';

const lp = (token: string, logprob: number): TokenLogprob => ({
  token,
  bytes: [...Buffer.from(token)],
  logprob,
  top: [{ token, bytes: [], logprob }],
});

const complete = (server: Harness, fields: object) =>
  ask(server, 'POST', '/v1/completions', { body: { model: 'gpt-oss-20b', prompt: 'hello world', ...fields } });

describe('/v1/completions', () => {
  it('answers a text with a text', async () => {
    const server = await startServer();
    server.supervisor.script = says([' and', ' good day']);
    const { status, body } = await complete(server, { max_tokens: 4, temperature: 0 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'text_completion',
      choices: [{ index: 0, text: ' and good day', logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11 },
    });
    expect(server.supervisor.last.work).toMatchObject({ input: { kind: 'text', text: 'hello world' }, maxTokens: 4 });
    expect(server.supervisor.last.work.thoughtTokens).toBeUndefined();
  });

  it('16 tokens are the default here, as with OpenAI', async () => {
    const server = await startServer();
    await complete(server, {});
    expect(server.supervisor.last.work.maxTokens).toBe(16);
  });

  it.each([
    ['a list of texts', ['a', 'b'], ['a', 'b']],
    ['token ids', [1, 2], [[1, 2]]],
    ['lists of token ids', [[24912, 2375]], [[24912, 2375]]],
    ['several lists', [[1], [2, 3]], [[1], [2, 3]]],
  ])('%s: one choice each, in order', async (_name, prompt, prompts) => {
    const server = await startServer();
    const { body } = await complete(server, { prompt });
    expect(body.choices.map((choice: { index: number }) => choice.index)).toEqual(prompts.map((_, index) => index));
    const inputs = server.supervisor.asked.map(({ work }) =>
      work.input.kind === 'text' ? work.input.text : work.input.kind === 'tokens' ? work.input.tokens : undefined,
    );
    expect(inputs).toEqual(prompts);
    expect(body.usage.prompt_tokens).toBe(11 * prompts.length);
  });

  it('n choices per prompt count the prompt once', async () => {
    const server = await startServer();
    const { body } = await complete(server, { prompt: ['a', 'b'], n: 2, seed: 5 });
    expect(body.choices.length).toBe(4);
    expect(body.usage).toMatchObject({ prompt_tokens: 22, completion_tokens: 28 });
    expect(server.supervisor.asked.map(({ work }) => work.sampling.seed)).toEqual([5, 6, 5, 6]);
  });

  it('echo with logprobs has the legacy shape: parallel lists that cover the prompt, the first one null', async () => {
    const server = await startServer();
    server.supervisor.script = says([' 漁', '!'], {
      logprobs: [lp(' 漁', -1), lp('!', -2)],
      echo: { text: 'hello world', logprobs: [null, lp(' world', -3)] },
    });
    const { body } = await complete(server, { echo: true, logprobs: 1, max_tokens: 2 });
    expect(server.supervisor.last.work).toMatchObject({ echo: true, logprobs: 1 });
    expect(body.choices[0].text).toBe('hello world 漁!');
    expect(body.choices[0].logprobs).toEqual({
      tokens: ['hello', ' world', ' 漁', '!'],
      token_logprobs: [null, -3, -1, -2],
      top_logprobs: [null, { ' world': -3 }, { ' 漁': -1 }, { '!': -2 }],
      text_offset: [0, 5, 11, 13],
    });
  });

  it('the prompt alone is scored with max_tokens 0, and nothing generated is shown', async () => {
    const server = await startServer();
    server.supervisor.script = says(['x'], {
      logprobs: [lp('x', -1)],
      echo: { text: 'hello world', logprobs: [null, lp(' world', -3)] },
    });
    const { body } = await complete(server, { echo: true, logprobs: 1, max_tokens: 0 });
    expect(body.choices[0]).toMatchObject({ text: 'hello world', finish_reason: 'length' });
    expect(body.choices[0].logprobs.tokens).toEqual(['hello', ' world']);
  });

  it('echo that the engine gave no numbers for is refused, never answered without them', async () => {
    const server = await startServer();
    const { status, body } = await complete(server, { echo: true, logprobs: 1 });
    expect([status, body.error.param]).toEqual([400, 'echo']);
  });

  it('echo without logprobs needs nothing of the engine', async () => {
    const server = await startServer();
    const { body } = await complete(server, { echo: true });
    expect(body.choices[0].text).toBe('hello worldHello there.');
    expect(server.supervisor.last.work.echo).toBe(false);
  });

  it.each<[object, string]>([
    [{ prompt: '' }, 'prompt'],
    [{ prompt: [] }, 'prompt'],
    [{ prompt: [''] }, 'prompt'],
    [{ prompt: [[]] }, 'prompt'],
    [{ prompt: [-1] }, 'prompt'],
    [{ prompt: ['a', 1] }, 'prompt'],
    [{ prompt: undefined }, 'prompt'],
    [{ prompt: Array(129).fill('a') }, 'prompt'],
    [{ suffix: 'end' }, 'suffix'],
    [{ best_of: 2 }, 'best_of'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ logprobs: 21 }, 'logprobs'],
    [{ echo: true, stream: true, logprobs: 1 }, 'echo'],
    [{ echo: true, stream: true, prompt: [1] }, 'echo'],
  ])('%j is refused by name', async (fields, param) => {
    const server = await startServer();
    const { status, body } = await complete(server, fields);
    expect(status).toBe(400);
    expect(body.error.param).toMatch(new RegExp(`^${param}`));
    expect(body.error.message).toContain(param);
  });

  it('streams texts by index, then the usage, then [DONE]', async () => {
    const server = await startServer();
    server.supervisor.script = says([' a', ' b'], { logprobs: [lp(' a', -1), lp(' b', -2)] });
    const { raw } = await complete(server, {
      prompt: ['x', 'y'],
      stream: true,
      logprobs: 1,
      stream_options: { include_usage: true },
    });
    const events = eventsOf(raw);
    expect(events.at(-1)).toBe('[DONE]');
    expect(events.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 22 } });
    const first = events.filter((event) => event.choices?.[0]?.index === 0).map((event) => event.choices[0]);
    expect(first.map((choice) => choice.text)).toEqual([' a', ' b', '']);
    expect(first.map((choice) => choice.logprobs?.text_offset)).toEqual([[0], [2], undefined]);
    expect(first.at(-1).finish_reason).toBe('stop');
  });
});
