// Loads, swaps, queues and crashes, with children that play the engine.
import { afterEach, describe, expect, it } from 'vitest';
import type { Supervisor } from '../../../electron/supervisor/types';
import { collect, harness, isAlive, model, pause, until, work, type Harness } from './harness';

let open: Supervisor[] = [];
const start = (...args: Parameters<typeof harness>): Harness => {
  const made = harness(...args);
  open.push(made.supervisor);
  return made;
};
afterEach(async () => {
  await Promise.all(open.map((supervisor) => supervisor.close()));
  open = [];
});

describe('loading', () => {
  it('says what it is doing, and then what it has', async () => {
    const { supervisor } = start();
    const seen = new Set<string | undefined>();
    supervisor.watch(() => seen.add(supervisor.active()?.phase));
    const loaded = await supervisor.load(model('/m/one'));
    expect(loaded.context).toBe(4096);
    expect([...seen]).toEqual(expect.arrayContaining(['open', 'weights', 'tokenizer', 'warmup']));
    expect(supervisor.active()).toMatchObject({ name: 'one', state: 'ready', context: 4096 });
  });

  it('starts one process for two calls at once', async () => {
    const { supervisor, children } = start();
    await Promise.all([supervisor.load(model('/m/slow')), supervisor.load(model('/m/slow'))]);
    expect(children).toHaveLength(1);
  });

  it('keeps the old model serving when the new one is broken', async () => {
    const { supervisor } = start();
    await supervisor.load(model('/m/one'));
    await expect(supervisor.load(model('/m/broken'))).rejects.toMatchObject({ code: 'bad_file' });
    expect(supervisor.active()).toMatchObject({ name: 'one', state: 'ready' });
    expect(supervisor.active()?.error).toBeUndefined();
    expect(supervisor.failed()).toMatchObject({ error: { code: 'bad_file' } });
    const answer = await collect(supervisor.generate(model('/m/one'), work({ tokens: 3 })));
    expect(answer.end?.reason).toBe('stop');
  });

  it('reports a crash while loading and does not try the same file again', async () => {
    const { supervisor, children } = start();
    await expect(supervisor.load(model('/m/crash-load'))).rejects.toMatchObject({ code: 'runtime_crashed' });
    expect(children).toHaveLength(1);
    expect(supervisor.active()).toMatchObject({ state: 'failed', error: { code: 'runtime_crashed' } });
  });

  it('lets running answers go on while the next model loads beside the old one', async () => {
    const { supervisor, children } = start();
    await supervisor.load(model('/m/one'));
    const answer = collect(supervisor.generate(model('/m/one'), work({ tokens: 20, delayMs: 20 })));
    await pause(50);
    await supervisor.load(model('/m/two'));
    expect(supervisor.active()?.name).toBe('two');
    expect((await answer).tokens).toHaveLength(20);
    expect(isAlive(children[0]?.pid)).toBe(true);
    expect(supervisor.models().map(({ name }) => name)).toEqual(['two', 'one']);
  });

  it('loads the model that a request needs', async () => {
    const { supervisor } = start();
    const answer = await collect(supervisor.generate(model('/m/one'), work({ tokens: 2 })));
    expect(answer.end?.reason).toBe('stop');
    expect(supervisor.active()?.name).toBe('one');
  });

  it('gives up a load that the user has changed their mind about', async () => {
    const { supervisor } = start();
    const first = supervisor.load(model('/m/slow'));
    first.catch(() => undefined);
    await pause(100);
    await supervisor.load(model('/m/two'));
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('throws a typed error of the runtime before the start', async () => {
    const { supervisor } = start();
    const answer = collect(supervisor.generate(model('/m/one'), work({ tokens: 1, refuse: true })));
    await expect(answer).rejects.toMatchObject({ code: 'context_length_exceeded', needed: 9, available: 4 });
  });
});

describe('two models that may not be in memory together', () => {
  const one = model('/m/one-4gb');
  const two = model('/m/two-4gb');
  const narrow = { budgetBytes: 7e9 };

  it('take turns: running words are finished first, and it is said what is waited for', async () => {
    const { supervisor, children } = start(narrow);
    const whole = await collect(supervisor.generate(one, work({ tokens: 30 })));
    const running = collect(supervisor.generate(one, work({ tokens: 30, delayMs: 20 })));
    await pause(50);
    const next = collect(supervisor.generate(two, work({ tokens: 3 })));
    await until(() => supervisor.swap() !== undefined);
    expect(supervisor.swap()).toMatchObject({ to: 'two-4gb', runningOn: 'one-4gb', waiting: 1 });
    expect(supervisor.active()).toMatchObject({ name: 'one-4gb', state: 'ready' });
    expect((await running).text).toBe(whole.text);
    expect((await next).end?.reason).toBe('stop');
    expect(supervisor.previous()).toBe('one-4gb');
    expect(children.map(({ pid }) => isAlive(pid))).toEqual([false, true]);
  });

  it('have all of what was named for them: nothing is held back for other programs', async () => {
    const { supervisor } = start({ budgetBytes: 5e9 });
    const { choices } = await supervisor.plan(one);
    expect(choices[0]?.fit.spareBytes).toBeGreaterThan(0);
    await supervisor.load(one);
  });

  it('let somebody who waits for the other one go within 300 ms', { retry: 2 }, async () => {
    const { supervisor } = start(narrow);
    const running = collect(supervisor.generate(one, work({ tokens: 40, delayMs: 20 })));
    await until(() => supervisor.queue().running === 1);
    const controller = new AbortController();
    const waiting = collect(supervisor.generate(two, work({ tokens: 3 }), controller.signal));
    await until(() => supervisor.swap() !== undefined);
    const before = Date.now();
    controller.abort();
    expect((await waiting).end?.reason).toBe('cancelled');
    expect(Date.now() - before).toBeLessThan(300);
    expect((await running).tokens).toHaveLength(40);
    expect(supervisor.swap()).toBeUndefined();
    expect(supervisor.active()?.name).toBe('one-4gb');
  });

  it('bring the old one back where the new one cannot be loaded', async () => {
    const { supervisor } = start(narrow);
    await supervisor.load(one, { context: 2048 });
    await expect(supervisor.load(model('/m/broken-4gb'))).rejects.toMatchObject({ code: 'bad_file' });
    expect((await collect(supervisor.generate(one, work({ tokens: 3 })))).end?.reason).toBe('stop');
    expect(supervisor.active()).toMatchObject({ name: 'one-4gb', context: 2048 });
  });

  it('are not tried where neither shrinking nor unloading is enough', async () => {
    const { supervisor, children } = start(narrow);
    await supervisor.load(one);
    await expect(supervisor.load(model('/m/huge-9gb'))).rejects.toMatchObject({ code: 'out_of_ram', available: 7e9 });
    expect(children).toHaveLength(1);
    expect(supervisor.active()).toMatchObject({ name: 'one-4gb', state: 'ready' });
    expect(supervisor.active()?.error).toBeUndefined();
    expect(supervisor.failed()?.error.code).toBe('out_of_ram');
  });

  it('can be, where what the idle one remembers shrinks', async () => {
    const grants: string[] = [];
    const { supervisor } = start({
      budgetBytes: 9.1e9,
      log: (_, text) => text.startsWith('granted') && grants.push(text),
    });
    await supervisor.load(one);
    await supervisor.load(two);
    await until(() => grants.length === 3);
    expect(supervisor.models().map(({ name }) => name)).toEqual(['two-4gb', 'one-4gb']);
    const granted = supervisor.models().map(({ kvGrantBytes }) => kvGrantBytes ?? 0);
    expect(granted.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(1.1e9);
    expect(Math.min(...granted)).toBeGreaterThanOrEqual(256e6);
  });
});

describe('unloading', () => {
  it('leaves no process behind', async () => {
    const { supervisor, children } = start();
    await supervisor.load(model('/m/one'));
    await supervisor.unload();
    expect(isAlive(children[0]?.pid)).toBe(false);
    expect(supervisor.active()).toBeUndefined();
  });

  it('ends the running answer instead of leaving its reader waiting', async () => {
    const { supervisor } = start();
    await supervisor.load(model('/m/one'));
    const answer = collect(supervisor.generate(model('/m/one'), work({ tokens: 1000, delayMs: 10 })));
    await pause(60);
    await supervisor.unload();
    expect((await answer).end?.reason).toBe('cancelled');
  });

  it('close ends the probe and every runtime', async () => {
    const { supervisor, children, probes } = start();
    await supervisor.load(model('/m/one'));
    await supervisor.probe.devices();
    await supervisor.close();
    expect([...children, ...probes].map((child) => isAlive(child.pid))).toEqual([false, false]);
  });
});

describe('a runtime that dies', () => {
  it('goes on where it stopped: the same bytes as without the crash', async () => {
    const { supervisor, children } = start();
    const whole = await collect(supervisor.generate(model('/m/one'), work({ tokens: 30 })));
    const torn = await collect(supervisor.generate(model('/m/one'), work({ tokens: 30, crashAt: 11 })));
    expect(torn).toMatchObject({ text: whole.text, tokens: whole.tokens, starts: 1, end: { reason: 'stop' } });
    expect(children).toHaveLength(2);
  });

  it('loses nothing in a series of kill -9 from outside', async () => {
    const { supervisor, children } = start();
    const whole = await collect(supervisor.generate(model('/m/one'), work({ tokens: 60 })));
    const answer = collect(supervisor.generate(model('/m/one'), work({ tokens: 60, delayMs: 10 })));
    for (let kill = 0; kill < 2; kill++) {
      await pause(150);
      process.kill(children.at(-1)?.pid ?? 0, 'SIGKILL');
      const before = children.length;
      await until(() => children.length > before);
      await until(() => supervisor.active()?.state === 'ready');
    }
    expect(await answer).toMatchObject({ text: whole.text, tokens: whole.tokens, starts: 1 });
  });

  it('ends a request that kills it again and again, and still serves the others', async () => {
    const { supervisor } = start();
    const poison = work({ tokens: 9, crashAt: 3, crashAlways: true });
    const ended = await collect(supervisor.generate(model('/m/one'), poison));
    expect(ended.end).toMatchObject({ reason: 'error', error: { code: 'runtime_crashed' } });
    expect(ended.tokens).toHaveLength(3);
    const answer = await collect(supervisor.generate(model('/m/one'), work({ tokens: 4 })));
    expect(answer.end?.reason).toBe('stop');
  });

  it('keeps the context that requests have seen, whatever memory allows later', async () => {
    const { supervisor, children } = start({ load: { context: 1234 } });
    await supervisor.load(model('/m/one'));
    process.kill(children[0]?.pid ?? 0, 'SIGKILL');
    await until(() => children.length === 2);
    expect(await supervisor.call(model('/m/one'), 'count', { input: { kind: 'text', text: '' } })).toEqual({
      tokens: 1234,
    });
  });

  it.skipIf(process.platform === 'win32')(
    'is replaced when it hangs instead of dying, and its answer goes on',
    async () => {
      const { supervisor, children } = start({ hangMs: 900 });
      const whole = await collect(supervisor.generate(model('/m/one'), work({ tokens: 40 })));
      const answer = collect(supervisor.generate(model('/m/one'), work({ tokens: 40, delayMs: 10 })));
      await pause(150);
      process.kill(children[0]?.pid ?? 0, 'SIGSTOP');
      expect(await answer).toMatchObject({
        text: whole.text,
        tokens: whole.tokens,
        starts: 1,
        end: { reason: 'stop' },
      });
      expect(children).toHaveLength(2);
      expect(isAlive(children[0]?.pid)).toBe(false);
    },
  );

  it('is left alone when it is only slow, or has nothing to do', async () => {
    const { supervisor, children } = start({ hangMs: 900 });
    const answer = await collect(supervisor.generate(model('/m/one'), work({ tokens: 1, delayMs: 2500 })));
    expect(answer.end?.reason).toBe('stop');
    await pause(1200);
    expect(children).toHaveLength(1);
  });

  it('shows no token twice when a runtime repeats itself', async () => {
    const { supervisor } = start();
    const answer = await collect(supervisor.generate(model('/m/one'), work({ tokens: 5, twice: true })));
    expect(answer.tokens).toHaveLength(5);
  });
});

describe('waiting and cancelling', () => {
  it('refuses beyond its bound instead of growing for ever', async () => {
    const { supervisor } = start({ slots: 1, maxWaiting: 1 });
    await supervisor.load(model('/m/one'));
    const running = collect(supervisor.generate(model('/m/one'), work({ tokens: 20, delayMs: 20 })));
    const waiting = collect(supervisor.generate(model('/m/one'), work({ tokens: 1 })));
    await pause(50);
    expect(supervisor.queue()).toMatchObject({ running: 1, waiting: 1 });
    const refused = collect(supervisor.generate(model('/m/one'), work({ tokens: 1 })));
    await expect(refused).rejects.toMatchObject({ code: 'queue_full' });
    expect((await waiting).end?.reason).toBe('stop');
    await running;
    expect(supervisor.queue()).toEqual({ running: 0, waiting: 0, served: 2 });
  });

  const cancelling = async (supervisor: Supervisor, path: string, script: { tokens: number; delayMs?: number }) => {
    const controller = new AbortController();
    const answer = collect(supervisor.generate(model(path), work(script), controller.signal));
    await pause(120);
    const before = Date.now();
    controller.abort();
    const { end } = await answer;
    return { reason: end?.reason, ms: Date.now() - before };
  };

  it('cancels within 300 ms while it runs', { retry: 2 }, async () => {
    const { supervisor } = start();
    await supervisor.load(model('/m/one'));
    const { reason, ms } = await cancelling(supervisor, '/m/one', { tokens: 1000, delayMs: 10 });
    expect(reason).toBe('cancelled');
    expect(ms).toBeLessThan(300);
  });

  it('cancels within 300 ms when the runtime does not listen', { retry: 2 }, async () => {
    const { supervisor } = start({}, { FAKE_DEAF: '1' });
    await supervisor.load(model('/m/one'));
    const { reason, ms } = await cancelling(supervisor, '/m/one', { tokens: 100, delayMs: 10 });
    expect(reason).toBe('cancelled');
    expect(ms).toBeLessThan(300);
  });

  it('cancels within 300 ms while the model loads, and gives the load up', { retry: 2 }, async () => {
    const { supervisor, children } = start();
    const { reason, ms } = await cancelling(supervisor, '/m/slow', { tokens: 5 });
    expect(reason).toBe('cancelled');
    expect(ms).toBeLessThan(300);
    await until(() => !isAlive(children[0]?.pid));
  });

  it('cancels within 300 ms while it waits for a slot', { retry: 2 }, async () => {
    const { supervisor } = start({ slots: 1 });
    await supervisor.load(model('/m/one'));
    const running = collect(supervisor.generate(model('/m/one'), work({ tokens: 30, delayMs: 20 })));
    const { reason, ms } = await cancelling(supervisor, '/m/one', { tokens: 5 });
    expect(reason).toBe('cancelled');
    expect(ms).toBeLessThan(300);
    expect((await running).tokens).toHaveLength(30);
  });

  it('gives the slot back when a reader walks away', async () => {
    const { supervisor } = start({ slots: 1 });
    for await (const event of supervisor.generate(model('/m/one'), work({ tokens: 1000, delayMs: 5 }))) {
      if (event.kind === 'parts') break;
    }
    const answer = await collect(supervisor.generate(model('/m/one'), work({ tokens: 2 })));
    expect(answer.end?.reason).toBe('stop');
  });
});
