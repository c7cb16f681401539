// The supervisor over real runtimes with the real engine and a small model.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entry } from '../../electron/entries';
import type { GenerateWork, Supervisor } from '../../electron/supervisor/types';
import { forkHosts, type HostHandle } from '../../electron/supervisor/host';
import { createSupervisor } from '../../electron/supervisor/supervisor';
import { collect, isAlive, pause, until } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

const model = { name: 'starter', path: modelPath };

const chat = (content: string, more: Partial<GenerateWork> = {}): GenerateWork => ({
  input: { kind: 'chat', chat: { messages: [{ role: 'user', content }] } },
  sampling: { seed: 42, temperature: 1.2 },
  ...more,
});

describe.skipIf(missing)('real runtimes', () => {
  let supervisor: Supervisor;
  let children: HostHandle[];
  beforeEach(() => {
    children = [];
    const fork = forkHosts(entry('runtime'));
    const spawn = (kind: 'runtime' | 'probe') => {
      const child = fork(kind);
      if (kind === 'runtime') children.push(child);
      return child;
    };
    supervisor = createSupervisor({ spawn });
  });
  afterEach(() => supervisor.close());

  it('continue an answer byte for byte after kill -9, wherever it hits', async () => {
    const work = chat('Tell me a story about a fox.', { maxTokens: 60 });
    const whole = await collect(supervisor.generate(model, work));
    expect(whole.tokens.length).toBeGreaterThan(10);
    for (const at of [1, 4, 9]) {
      let tokens: number[] = [];
      let shown = '';
      let killed = false;
      for await (const event of supervisor.generate(model, work)) {
        if (event.kind !== 'parts') continue;
        tokens = [...tokens, ...event.tokenIds];
        shown += event.parts.map(({ delta }) => delta).join('');
        if (killed || tokens.length < at) continue;
        killed = true;
        process.kill(children.at(-1)?.pid ?? 0, 'SIGKILL');
      }
      expect(tokens).toEqual(whole.tokens);
      expect(shown).toBe(whole.text);
      await until(() => supervisor.active()?.state === 'ready');
    }
  });

  it('give the same answer for the same seed, and another for another', async () => {
    const [one, two, other] = await Promise.all([
      collect(supervisor.generate(model, chat('Hello', { maxTokens: 40 }))),
      collect(supervisor.generate(model, chat('Hello', { maxTokens: 40 }))),
      collect(supervisor.generate(model, chat('Hello', { maxTokens: 40, sampling: { seed: 43, temperature: 1.2 } }))),
    ]);
    expect(one.tokens).toEqual(two.tokens);
    expect(one.tokens).not.toEqual(other.tokens);
  });

  it('end a long reading within 300 ms of a cancel', { retry: 2 }, async () => {
    await supervisor.load(model);
    const context = supervisor.loaded()?.context ?? 0;
    const tokens = Array.from({ length: context - 10 }, (_, i) => (i * 7919) % 3000);
    const controller = new AbortController();
    const work: GenerateWork = { input: { kind: 'tokens', tokens }, sampling: { seed: 1 } };
    const answer = collect(supervisor.generate(model, work, controller.signal));
    await pause(30);
    const before = Date.now();
    controller.abort();
    expect((await answer).end?.reason).toBe('cancelled');
    expect(Date.now() - before).toBeLessThan(300);
  });

  it('refuse a prompt over the context, with both numbers, and go on serving', async () => {
    await supervisor.load(model);
    const context = supervisor.loaded()?.context ?? 0;
    const tokens = Array<number>(context + 5).fill(1);
    const refused = collect(supervisor.generate(model, { input: { kind: 'tokens', tokens }, sampling: { seed: 1 } }));
    await expect(refused).rejects.toMatchObject({ code: 'context_length_exceeded', available: context });
    expect((await collect(supervisor.generate(model, chat('Hello', { maxTokens: 5 })))).tokens).toHaveLength(5);
  });

  it('begin the answer where the thoughts are cut, so that it is not empty', async () => {
    const answer = await collect(supervisor.generate(model, chat('Hello', { thoughtTokens: 3, maxTokens: 200 })));
    expect(answer.end?.usage.reasoningTokens).toBeLessThanOrEqual(3);
    expect(answer.end?.reason).toBe('stop');
  });

  it('give every byte back on unload', async () => {
    await supervisor.load(model);
    const pid = children[0]?.pid;
    await supervisor.unload();
    expect(isAlive(pid)).toBe(false);
  });

  it('answer for a second model while the first is still writing, and let that finish', async () => {
    const second = { name: 'tiny', path: new URL('../fixtures/oracles/gptoss/tiny.gguf', import.meta.url).pathname };
    const long = chat('Count to fifty.', { maxTokens: 400, sampling: { seed: 42, temperature: 1.2 } });
    const alone = await collect(supervisor.generate(model, long));
    const first = supervisor.generate(model, long);
    const begun = first[Symbol.asyncIterator]();
    const head = [await begun.next(), await begun.next(), await begun.next()];
    const tokens: GenerateWork = { input: { kind: 'tokens', tokens: [1, 2, 3] }, sampling: { seed: 1 }, maxTokens: 4 };
    const [other, rest] = await Promise.all([
      collect(supervisor.generate(second, tokens)),
      collect({ [Symbol.asyncIterator]: () => begun }),
    ]);
    expect(other.end?.reason).toBe('length');
    expect(rest.end?.reason).toBe(alone.end?.reason);
    const given = head.flatMap(({ value }) => (value?.kind === 'parts' ? value.tokenIds : []));
    expect([...given, ...rest.tokens]).toEqual(alone.tokens);
  });

  it('tell what is wrong with a file that is no model', async () => {
    const path = new URL('engine-model.ts', import.meta.url).pathname;
    await expect(supervisor.probe.inspect(path)).rejects.toMatchObject({ code: 'bad_file' });
    await expect(supervisor.load({ name: 'text', path })).rejects.toMatchObject({ code: 'bad_file' });
    await expect(supervisor.load({ name: 'none', path: '/nowhere.gguf' })).rejects.toMatchObject({
      code: 'file_not_found',
    });
  });
});
