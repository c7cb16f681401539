// The real runtime process (own entry, own threads, own port) over a fake engine.
import { fork } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entry } from '../../../electron/entries';
import { isAlive, pause, until } from '../supervisor/harness';
import { FAKE_ADDON, Runtime, chatInput } from './harness';

let runtime: Runtime;
beforeAll(async () => {
  runtime = new Runtime();
  await runtime.load();
});
afterAll(() => runtime.process.shutdown());

describe('loading', () => {
  it('tells what the model can do from its vocabulary, and each phase on the way', async () => {
    const other = new Runtime();
    const loaded = await other.load();
    expect(loaded).toMatchObject({
      abilities: { chat: true, reasoning: true, tools: true, harmony: true },
      defaultTemperature: 1,
      engineBuild: 'fake-build',
      replacedKernels: ['A kernel was replaced.'],
      context: 4096,
    });
    expect(new Set(other.phases)).toEqual(new Set(['open', 'weights', 'tokenizer', 'warmup']));
    await other.process.shutdown();
    expect(isAlive(other.process.pid)).toBe(false);
  });

  it('passes a broken file on as a typed error', async () => {
    const other = new Runtime();
    await expect(other.load('/models/broken.gguf')).rejects.toMatchObject({ code: 'bad_file' });
    await other.process.shutdown();
  });

  it('says that the engine is not built instead of dying', async () => {
    const other = new Runtime({ HEARTH_ADDON: '/nowhere/engine.node' });
    await expect(other.load()).rejects.toMatchObject({ code: 'addon_missing' });
    await other.process.shutdown();
  });

  it('needs no model to be the probe', async () => {
    const other = new Runtime();
    await other.process.ready;
    expect(await other.process.call('identify', { path: '/m/a.gguf' })).toMatchObject({ abilities: { harmony: true } });
    await expect(other.process.call('stats', {})).rejects.toMatchObject({ code: 'no_model' });
    await other.process.shutdown();
  });
});

describe('answers', () => {
  it('keeps thoughts, answer and markup apart', async () => {
    const answer = await runtime.chat({ analysis: 'I think.', final: 'Grüße 🌍!' });
    expect(answer).toMatchObject({ reasoning: 'I think.', text: 'Grüße 🌍!', end: { reason: 'stop' } });
    expect(answer.end.usage).toMatchObject({ reasoningTokens: 8, completionTokens: answer.tokens.length });
    expect(answer.start).toMatchObject({ temperature: 1, droppedTurns: 0 });
    expect(answer.end.usage.promptTokens).toBe(answer.start?.promptTokens);
  });

  it('never shows half a character, and loses none', async () => {
    const answer = await runtime.chat({ final: '你好 👩‍👩‍👧 ende' });
    expect(answer.text).toBe('你好 👩‍👩‍👧 ende');
    const deltas = answer.events.flatMap((event) =>
      event.kind === 'parts' ? event.parts.map(({ delta }) => delta) : [],
    );
    expect(deltas.join('')).not.toContain('\ufffd');
  });

  it('delivers output without any markup as text, not as an error', async () => {
    expect(await runtime.chat({ raw: 'no channels at all' })).toMatchObject({
      text: 'no channels at all',
      end: { reason: 'stop' },
    });
  });

  it('survives any sequence of tokens', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const tokens = Array.from({ length: 60 }, (_, i) => ((seed * 7919 + i * i * 104729) >> 3) % 266);
      const answer = await runtime.chat({ tokens }, { maxTokens: 60 });
      expect(['stop', 'length', 'tool_calls']).toContain(answer.end.reason);
    }
  });

  it('gives a tool call with its name once and its arguments as they came', async () => {
    const input = chatInput(
      { analysis: 'Look.', call: { name: 'weather', arguments: '{"city":"Bern"' } },
      { tools: [{ name: 'weather' }] },
    );
    const answer = await runtime.run({ input });
    expect(answer.end.reason).toBe('tool_calls');
    expect(answer.tools.map(({ delta }) => delta).join('')).toBe('{"city":"Bern"');
    expect(answer.tools.filter(({ name }) => name !== undefined)).toHaveLength(1);
    expect(answer.tools[0]).toMatchObject({ call: 0, name: 'weather', id: expect.stringMatching(/^call_/) });
  });

  it('ends at a stop string that lies across tokens, without showing a piece of it', async () => {
    const answer = await runtime.chat({ final: 'one two STOP three' }, { stop: ['STOP'] });
    expect(answer).toMatchObject({ text: 'one two ', end: { reason: 'stop' } });
  });

  it('shows what only looked like a stop string', async () => {
    expect((await runtime.chat({ final: 'one two STO' }, { stop: ['STOP'] })).text).toBe('one two STO');
  });

  it('does not look for stop strings in thoughts', async () => {
    expect(await runtime.chat({ analysis: 'STOP', final: 'fine' }, { stop: ['STOP'] })).toMatchObject({ text: 'fine' });
  });

  it('counts the answer and not the thoughts towards its length', async () => {
    const answer = await runtime.chat({ analysis: 'a long thought', final: 'abcdefgh' }, { answerTokens: 4 });
    expect(answer).toMatchObject({ reasoning: 'a long thought', text: 'abcd', end: { reason: 'length' } });
  });

  it('ends with an empty answer and reason length when the limit falls into the thoughts', async () => {
    const answer = await runtime.chat({ analysis: 'a very long thought', final: 'x' }, { maxTokens: 14 });
    expect(answer).toMatchObject({ text: '', end: { reason: 'length', usage: { completionTokens: 14 } } });
  });

  it('begins the answer when the thoughts have used up their share', async () => {
    const answer = await runtime.chat({ analysis: 'round and round and round', final: 'Done.' }, { thoughtTokens: 5 });
    expect(answer).toMatchObject({ reasoning: 'round', text: 'Done.', end: { reason: 'stop' } });
    expect(answer.end.usage.reasoningTokens).toBe(5);
  });

  it('lets short thoughts and tool calls run on', async () => {
    expect(await runtime.chat({ analysis: 'ok', final: 'Done.' }, { thoughtTokens: 5 })).toMatchObject({
      reasoning: 'ok',
      text: 'Done.',
    });
    const input = chatInput({ call: { name: 'f', arguments: '{}' } }, { tools: [{ name: 'f' }] });
    expect((await runtime.run({ input, thoughtTokens: 0 })).end.reason).toBe('tool_calls');
  });

  it('gives logprobs for visible tokens only, each with its text', async () => {
    const answer = await runtime.chat({ analysis: 'hm', final: 'é!' }, { logprobs: 1 });
    expect(answer.logprobs).toHaveLength(3);
    expect(answer.logprobs[2]).toBe('!');
  });

  it('gives no logprobs for text that a stop string cut away', async () => {
    const answer = await runtime.chat({ final: 'abEND' }, { logprobs: 0, stop: ['END'] });
    expect(answer.logprobs).toEqual(['a', 'b']);
  });

  it('echoes a raw prompt with its logprobs', async () => {
    const answer = await runtime.run({ input: { kind: 'text', text: 'Hi{{{"raw":"yo"}}}' }, echo: true, logprobs: 0 });
    expect(answer.end.echo?.text).toBe('Hi{{{"raw":"yo"}}}');
    expect(answer.end.echo?.logprobs[0]).toBeNull();
    expect(answer.end.echo?.logprobs[1]).toMatchObject({ token: 'i', logprob: -1 });
    expect(answer.text).toBe('yo');
  });
});

describe('resuming', () => {
  it('goes on byte for byte from every place, and repeats nothing', async () => {
    const script = { analysis: 'Hmm é.', final: 'Grüße 🌍 STO!' };
    const whole = await runtime.chat(script, { stop: ['STOP'] });
    for (let cut = 0; cut <= whole.tokens.length; cut++) {
      const resumed = await runtime.chat(script, { stop: ['STOP'], resumeTokens: whole.tokens.slice(0, cut) });
      expect(resumed.tokens).toEqual(whole.tokens.slice(cut));
      const text = whole.text.slice(0, whole.text.length - resumed.text.length) + resumed.text;
      expect(text).toBe(whole.text);
      expect(resumed.end).toMatchObject({ reason: 'stop', usage: whole.end.usage });
    }
  });

  it('ends at once where the answer was over already', async () => {
    const whole = await runtime.chat({ final: 'abcdef' }, { answerTokens: 3 });
    const again = await runtime.chat({ final: 'abcdef' }, { answerTokens: 3, resumeTokens: whole.tokens });
    expect(again).toMatchObject({ text: '', tokens: [], end: { reason: 'length' } });
  });

  it('still ends the thoughts at their share, also when it died between the tokens of the forced header', async () => {
    const script = { analysis: 'round and round', final: 'Done.' };
    const whole = await runtime.chat(script, { thoughtTokens: 5 });
    for (let cut = 0; cut <= whole.tokens.length; cut++) {
      const resumed = await runtime.chat(script, { thoughtTokens: 5, resumeTokens: whole.tokens.slice(0, cut) });
      expect(resumed.tokens).toEqual(whole.tokens.slice(cut));
    }
  });
});

describe('constraints', () => {
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' }, n: { type: 'integer' } },
    required: ['ok', 'n'],
    additionalProperties: false,
  };
  const format = { responseFormat: { type: 'json_schema' as const, name: 'answer', schema } };
  const tools = [
    { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  ];

  it('make an answer follow its schema whatever the model would rather say, and leave the thoughts free', async () => {
    const input = chatInput({ analysis: 'No JSON!', final: 'Sure, here it is' }, format);
    const answer = await runtime.run({ input, maxTokens: 200 });
    expect(answer.reasoning).toBe('No JSON!');
    expect(JSON.parse(answer.text)).toEqual({ ok: expect.any(Boolean), n: expect.any(Number) });
    expect(answer.end.reason).toBe('stop');
  });

  it('make a required call a call, with arguments of its schema', async () => {
    const input = chatInput({ final: 'I would rather talk.' }, { tools, toolChoice: 'required' });
    const answer = await runtime.run({ input, maxTokens: 300 });
    expect(answer.end.reason).toMatch(/tool_calls|length/);
    expect(answer.tools[0]).toMatchObject({ name: 'weather' });
    expect(answer.text).toBe('');
  });

  it('end the thoughts at their share, too', async () => {
    const input = chatInput({ analysis: 'round and round and round', final: 'x' }, format);
    const answer = await runtime.run({ input, maxTokens: 200, thoughtTokens: 5 });
    expect(answer.reasoning).toBe('round');
    expect(Object.keys(JSON.parse(answer.text) as object)).toEqual(['ok', 'n']);
  });

  it('go on where they were after a resume', async () => {
    const input = chatInput({ analysis: 'round and round', final: '{"ok": true, "n": 7}' }, format);
    const request = { input, maxTokens: 200, thoughtTokens: 3 };
    const whole = await runtime.run(request);
    for (let cut = 0; cut <= whole.tokens.length; cut += 3) {
      const resumed = await runtime.run({ ...request, resumeTokens: whole.tokens.slice(0, cut) });
      expect(resumed.tokens).toEqual(whole.tokens.slice(cut));
    }
  });

  const share = {
    type: 'object',
    properties: { share: { type: 'number', maximum: 1 } },
    required: ['share'],
    additionalProperties: false,
  };
  const shareFormat = { responseFormat: { type: 'json_schema' as const, name: 'answer', schema: share } };

  it('do not pass off as right what only the last check can see, also after a resume', async () => {
    const request = { input: chatInput({ final: '{"share": 7.5}' }, shareFormat), maxTokens: 200 };
    const answer = await runtime.run(request);
    expect(answer.text).toBe('{"share": 7.5}');
    expect(answer.end).toMatchObject({ reason: 'error', error: { code: 'unsupported_schema' } });
    expect(answer.end.error?.message).toMatch(/share must be <= 1\.$/);
    const again = await runtime.run({ ...request, resumeTokens: answer.tokens });
    expect(again.end).toMatchObject({ reason: 'error', error: answer.end.error, usage: answer.end.usage });
    const fine = chatInput({ final: '{"share": 0.5}' }, shareFormat);
    expect((await runtime.run({ input: fine, maxTokens: 200 })).end).toMatchObject({ reason: 'stop' });
  });

  it('check the arguments of a call as well', async () => {
    const picky = [{ name: 'weather', parameters: share }];
    const input = chatInput(
      { call: { name: 'weather', arguments: '{"share": 3}' } },
      { tools: picky, toolChoice: 'required' },
    );
    const answer = await runtime.run({ input, maxTokens: 300 });
    expect(answer.end).toMatchObject({ reason: 'error', error: { code: 'unsupported_schema' } });
    expect(answer.end.error?.message).toContain('the arguments of "weather"');
  });

  it('do not blame an answer that was cut for being incomplete', async () => {
    const input = chatInput({ final: '{"share": 7.5}' }, shareFormat);
    expect((await runtime.run({ input, answerTokens: 8 })).end.reason).toBe('length');
    const stopped = await runtime.run({ input, maxTokens: 200, stop: ['7.'] });
    expect(stopped).toMatchObject({ text: '{"share": ', end: { reason: 'stop' } });
  });

  it('are finished and checked before a drain is over', async () => {
    const other = new Runtime();
    await other.load();
    const input = chatInput({ final: '{"share": 7.5}', delayMs: 5 }, shareFormat);
    const answer = other.run({ id: 'last', input, maxTokens: 200 });
    await until(() => other.soFar('last').length > 0);
    await other.process.call('drain', {});
    expect(other.soFar('last').at(-1)).toMatchObject({ kind: 'end', reason: 'error' });
    await answer;
    await other.process.shutdown();
  });

  it('refuse a schema that cannot be enforced, by name', async () => {
    const input = chatInput(
      { final: 'x' },
      { responseFormat: { type: 'json_schema', name: 'a', schema: { not: {} } } },
    );
    await expect(runtime.run({ input })).rejects.toMatchObject({ code: 'unsupported_schema' });
    expect((await runtime.chat({ final: 'fine' })).text).toBe('fine');
  });
});

describe('limits', () => {
  it('refuses a prompt over the context before any work, with both numbers', async () => {
    const before = (await runtime.process.call('stats', {})).requests;
    const input = { kind: 'text' as const, text: 'x'.repeat(5000) };
    await expect(runtime.run({ input })).rejects.toMatchObject({
      code: 'context_length_exceeded',
      needed: 5001,
      available: 4096,
    });
    expect((await runtime.process.call('stats', {})).requests).toBe(before);
  });

  const long = (turns: number) => ({
    kind: 'chat' as const,
    chat: {
      messages: [
        { role: 'system' as const, content: 'Be kind.' },
        ...Array.from({ length: turns }, (_, i) => [
          { role: 'user' as const, content: `question ${i} ${'x'.repeat(400)}` },
          { role: 'assistant' as const, content: 'an answer' },
        ]).flat(),
        { role: 'user' as const, content: '{{{"final":"yes"}}}' },
      ],
    },
  });

  it('drops the oldest turns where that is asked for, and says how many', async () => {
    const answer = await runtime.run({ input: long(20), fit: true });
    expect(answer.start?.droppedTurns).toBeGreaterThan(5);
    expect(answer.start?.promptTokens).toBeLessThanOrEqual(3072);
    expect(answer.text).toBe('yes');
    await expect(runtime.run({ input: long(20) })).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });

  it('keeps the last turns that the user wants remembered', async () => {
    expect((await runtime.run({ input: long(5), keepTurns: 3 })).start?.droppedTurns).toBe(3);
  });

  it('tells where a message from main is nonsense', async () => {
    const bad = runtime.process.call('generate', {
      id: 'x',
      input: { kind: 'text', text: 'a' },
      sampling: { seed: -1 },
    });
    await expect(bad).rejects.toMatchObject({ code: 'invalid_request', param: 'sampling.seed' });
  });
});

describe('cancelling', () => {
  it('ends a running answer at once', { retry: 2 }, async () => {
    const answer = runtime.chat({ final: 'x'.repeat(1000), delayMs: 10 }, { id: 'slow' });
    await until(() => runtime.soFar('slow').some((event) => event.kind === 'parts'));
    const before = Date.now();
    await runtime.process.call('cancel', { id: 'slow' });
    expect((await answer).end.reason).toBe('cancelled');
    expect(Date.now() - before).toBeLessThan(300);
  });

  it('is not held up by a prompt of megabytes', { retry: 2 }, async () => {
    const huge = Array.from({ length: 300_000 }, (_, i) => `${i} éß漢 ${'!'.repeat(i % 7)}`).join('\n');
    const stuck = runtime.run({ id: 'huge', input: { kind: 'text', text: huge } }).catch(() => undefined);
    const running = runtime.chat({ final: 'x'.repeat(1000), delayMs: 10 }, { id: 'beside' });
    await pause(100);
    const before = Date.now();
    await runtime.process.call('cancel', { id: 'beside' });
    await runtime.process.call('cancel', { id: 'huge' });
    await Promise.all([running, stuck]);
    expect(Date.now() - before).toBeLessThan(300);
    expect((await runtime.chat({ final: 'next' })).text).toBe('next');
  });

  it('hands back what has not begun, and finishes the rest, on drain', async () => {
    const other = new Runtime();
    await other.load();
    const running = other.chat({ final: 'abcdefghij', delayMs: 20 }, { id: 'running' });
    await until(() => other.soFar('running').length > 0);
    const drained = await other.process.call('drain', {});
    expect(drained.unstarted).toEqual([]);
    expect((await running).text).toBe('abcdefghij');
    await expect(other.chat({ final: 'late' })).rejects.toMatchObject({ code: 'no_model' });
    await other.process.shutdown();
  });
});

describe('measurements', () => {
  it('tells the process memory apart from the mapped weights', async () => {
    const stats = await runtime.process.call('stats', {});
    expect(stats.rssAnonBytes).toBeGreaterThan(1e6);
    expect(stats.rssBytes).toBeGreaterThanOrEqual(stats.rssAnonBytes);
  });

  it('measures reading and writing, and says what they ask of the machine and what it can do', async () => {
    const result = await runtime.process.call('bench', { prefill: 16, decode: 8, sequences: 2 });
    expect(result.prefillTps).toBeGreaterThan(0);
    expect(result.tbtMs.max).toBeGreaterThanOrEqual(result.tbtMs.p50);
    expect(result.peakAnonBytes).toBeGreaterThan(1e6);
    const limits = await runtime.process.call('limits', {});
    expect(limits).toMatchObject({ threads: 1, readBytesPerSecond: 1e9 });
  });
});

describe('orphans', () => {
  /** A parent that forks the runtime, says its id and is then killed. */
  async function orphan(env: Record<string, string>): Promise<number> {
    const { path, execArgv } = entry('runtime');
    const code = `
      const { fork } = require('node:child_process');
      const child = fork(${JSON.stringify(path)}, [], { execArgv: ${JSON.stringify(execArgv)}, serialization: 'advanced' });
      child.on('message', (message) => { if (message.type === 'ready') process.send(child.pid); });`;
    const parent = fork('-e', [code], { execArgv: [], env: { ...process.env, HEARTH_ADDON: FAKE_ADDON, ...env } });
    const pid = await new Promise<number>((resolve) => parent.once('message', (message) => resolve(Number(message))));
    await pause(env.FAKE_BLOCKS ? 1000 : 0);
    parent.kill('SIGKILL');
    return pid;
  }

  it('ends when its parent is killed', async () => {
    const pid = await orphan({});
    await until(() => !isAlive(pid), 5000);
  });

  it('ends within 5 s even while a native call holds the main thread', async () => {
    const pid = await orphan({ FAKE_BLOCKS: '1' });
    expect(isAlive(pid)).toBe(true);
    await until(() => !isAlive(pid), 5000);
  });
});
