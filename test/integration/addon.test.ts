// Failures prevented: a wrong argument that crashes the process or passes unnoticed; an untyped error; events lost between
// engine and handler; a closed model that keeps memory or its process alive; a load that cannot be cancelled.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  addonPath,
  loadAddon,
  type Addon,
  type NativeEngine,
  type NativeError,
  type NativeEvent,
  type NativeLoadOptions,
  type NativeRequest,
} from '../../electron/runtime/addon';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/oracles/${name}`, import.meta.url));
const built = addonPath() !== null;
if (!built) console.warn('The addon is not built: its tests are skipped. `npm test` builds it.');

/** Expected logits: test/oracles/expected.py describes the format. */
function expected(name: string): { tokens: number[]; logits: Map<number, number[]> } {
  const logits = new Map<number, number[]>();
  let tokens: number[] = [];
  for (const line of readFileSync(fixture(name), 'utf8').split('\n')) {
    const [kind, count, ...values] = line.split(' ');
    if (kind === 'tokens') tokens = values.map(Number);
    if (kind === 'logits') logits.set(Number(count), values.map(Number));
  }
  return { tokens, logits };
}

/** Collects the events of one engine and waits for the end of requests. */
class Listener {
  readonly events: NativeEvent[] = [];
  private waiting: (() => void)[] = [];

  constructor(engine: NativeEngine) {
    engine.setEventHandler((events) => {
      this.events.push(...events);
      for (const wake of this.waiting.splice(0)) wake();
    });
  }
  of(id: number): NativeEvent[] {
    return this.events.filter((event) => event.id === id);
  }
  async until(id: number, kind: NativeEvent['kind']): Promise<NativeEvent[]> {
    while (!this.of(id).some((event) => event.kind === kind))
      await new Promise<void>((wake) => this.waiting.push(wake));
    return this.of(id);
  }
  async tokens(id: number): Promise<number[]> {
    return (await this.until(id, 'finished')).flatMap((event) => (event.kind === 'token' ? [event.token] : []));
  }
}

describe.skipIf(!built)('addon', () => {
  let addon: Addon;
  const open: NativeEngine[] = [];
  beforeAll(() => {
    addon = loadAddon();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((engine) => engine.close()));
  });

  async function load(options: Partial<NativeLoadOptions> = {}): Promise<NativeEngine> {
    const engine = await addon.load({
      modelPath: fixture('gptoss/tiny.gguf'),
      precision: 'exact',
      threads: 2,
      context: 2048,
      ...options,
    }).engine;
    open.push(engine);
    return engine;
  }
  const prompt = Array.from({ length: 50 }, (_, i) => (i * 37) % 256);
  const request = (id: number, rest: Partial<NativeRequest> = {}): NativeRequest => ({
    id,
    prompt,
    maxTokens: 20,
    ...rest,
  });
  const failure = async (work: Promise<unknown>): Promise<NativeError> =>
    work.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error as NativeError,
    );

  it('inspects both formats alike', async () => {
    const gguf = await addon.inspect(fixture('gptoss/tiny.gguf'));
    const folder = await addon.inspect(fixture('gptoss/hf'));
    for (const { model } of [gguf, folder]) {
      expect(model).toMatchObject({
        architecture: 'gpt-oss',
        layers: 4,
        hidden: 64,
        vocabulary: 288,
        experts: 8,
        expertsUsed: 4,
      });
      expect(model.modelId).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(gguf.tokenizer.tokens.ends).toHaveLength(288);
    expect(gguf.tokenizer.types).toBeInstanceOf(Int32Array);
    expect(gguf.tokenizer.types[256]).toBe(3);
    expect(folder.tokenizer.tokenizerJson).toContain('tokenizer.json');
    expect(gguf.tensors.some((tensor) => tensor.type === 'MXFP4' && tensor.shape.join() === '8,96,64')).toBe(true);
    expect(await addon.identify(fixture('gptoss/tiny.gguf'))).toMatchObject({ modelId: gguf.model.modelId });
  });

  it('gives the oracles logits', async () => {
    const { tokens, logits } = expected('gptoss/transformers.txt');
    const engine = await load();
    for (const [length, want] of logits) {
      const got = await engine.logits(Int32Array.from(tokens.slice(0, length)));
      expect(got).toBeInstanceOf(Float32Array);
      expect(Math.max(...want.map((value, i) => Math.abs(value - (got[i] ?? Infinity))))).toBeLessThan(1e-3);
    }
    expect(await engine.allLogits(tokens.slice(0, 7))).toHaveLength(7 * 288);
  });

  it('gives the text of one device where several share the model', async () => {
    const ranks = Array.from({ length: 2 }, () => ({ device: 'cpu', threads: 1 }));
    const modelPath = fileURLToPath(new URL('../../resources/starter/starter.gguf', import.meta.url));
    const texts = [];
    const divisions = [
      undefined,
      { split: 'tensor' as const, ranks },
      { split: 'layers' as const, ranks: ranks.map((rank, i) => ({ ...rank, layers: i === 0 ? 2 : 4 })) },
      { ranks: ranks.slice(1), served: [{ layer: 0 }, { layer: 2 }] },
      { ranks: ranks.slice(1), served: [{ layer: 0, experts: [0, 3] }, { layer: 1, experts: [2] }, { layer: 2 }] },
    ];
    for (const mesh of divisions) {
      const engine = await load({ modelPath, ...(mesh && { mesh }) });
      expect(engine.info().kernels.split(' + ')).toHaveLength(mesh ? 2 : 1);
      const listener = new Listener(engine);
      engine.submit(request(1, { sampling: { temperature: 0 } }));
      texts.push(await listener.tokens(1));
      const { layers, experts, uses, rows } = engine.expertUses();
      expect([uses.length, rows.length]).toEqual([layers * experts, layers]);
      expect(Math.min(...rows)).toBeGreaterThan(0);
      const each = (layer: number) => uses.slice(layer * experts, (layer + 1) * experts).reduce((a, b) => a + b, 0);
      const { expertsUsed } = engine.info().model;
      expect(Array.from(rows, (_, layer) => each(layer))).toEqual(Array.from(rows, (count) => count * expertsUsed));
    }
    for (const text of texts.slice(1)) expect(text).toEqual(texts[0]);
  });

  it('finds a prompt again within its scope, and after a restart on disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hearth-addon-cache-'));
    const long = Array.from({ length: 400 }, (_, i) => (i * 37 + (i >> 3)) % 256);
    const options = { diskCachePath: folder, diskCacheBytes: 1e9 };
    const run = async (engine: NativeEngine, id: number, rest: Partial<NativeRequest> = {}) => {
      const listener = new Listener(engine);
      engine.submit(request(id, { prompt: long, sampling: { temperature: 0 }, cacheScope: 'a', ...rest }));
      const events = await listener.until(id, 'finished');
      const end = events.at(-1);
      if (end?.kind !== 'finished') return expect.fail('it has no end');
      const text = events.flatMap((event) => (event.kind === 'token' ? [event.token] : []));
      return { text, cached: end.cached, miss: end.cacheMiss };
    };
    try {
      const first = await load(options);
      const { text, ...cold } = await run(first, 1);
      expect(cold).toEqual({ cached: 0, miss: 'no_entry' });
      expect(await run(first, 2)).toEqual({ text, cached: 384, miss: 'none' });
      expect(await run(first, 3, { cacheScope: 'b' })).toEqual({ text, cached: 0, miss: 'other_scope' });
      expect(await run(first, 4, { useCache: false })).toEqual({ text, cached: 0, miss: 'not_wanted' });
      expect(first.stats()).toMatchObject({ cachedTokens: 384, cacheMisses: { no_entry: 1, none: 1, other_scope: 1 } });
      first.setKvGrant(0);
      first.setKvGrant(1e9);
      await first.close();
      const second = await load(options);
      expect(await run(second, 5)).toEqual({ text, cached: 384, miss: 'none' });
      expect(second.stats().blocksFetched).toBeGreaterThan(24);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('delivers every event in order, and the same text for the same seed', async () => {
    const engine = await load();
    const listener = new Listener(engine);
    engine.submit(request(1, { sampling: { seed: 12345678901234567890n, logprobs: 2 } }));
    engine.submit(request(2, { sampling: { seed: 12345678901234567890n } }));
    const events = await listener.until(1, 'finished');
    const tokens = events.filter((event) => event.kind === 'token');
    expect(tokens.map((event) => event.index)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(tokens.every((event) => event.logprob !== undefined && event.top?.length === 2)).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: 'finished', reason: 'length', total: 20, cached: 0 });
    expect(await listener.tokens(2)).toEqual(await listener.tokens(1));
  });

  it('goes on from tokens already given', async () => {
    const engine = await load();
    const listener = new Listener(engine);
    engine.submit(request(1, { sampling: { seed: 7 } }));
    const text = await listener.tokens(1);
    engine.submit(request(2, { sampling: { seed: 7 }, resumeTokens: text.slice(0, 8) }));
    expect(await listener.tokens(2)).toEqual(text.slice(8));
    expect(listener.of(2).find((event) => event.kind === 'token')).toMatchObject({ index: 8 });
  });

  it('waits for guides, forces and masks', async () => {
    const engine = await load();
    const listener = new Listener(engine);
    engine.submit(request(1, { pauseAt: 0, maxTokens: 4 }));
    await listener.until(1, 'paused');
    engine.guide(1, { index: 0, forced: [260, 261], pauseAt: 2 });
    while (!listener.of(1).some((event) => event.kind === 'paused' && event.index === 2))
      await new Promise((r) => setTimeout(r, 5));
    const mask = new Uint32Array(9);
    mask[2] = 1 << 5;
    engine.guide(1, { index: 2, mask });
    expect((await listener.tokens(1)).slice(0, 3)).toEqual([260, 261, 69]);
  });

  it('cancels quickly and says so', async () => {
    const engine = await load({ device: 'reference' });
    const listener = new Listener(engine);
    engine.submit(request(1, { prompt: Array.from({ length: 1500 }, (_, i) => i % 256), maxTokens: 0 }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const begin = performance.now();
    engine.cancel(1);
    expect((await listener.until(1, 'finished')).at(-1)).toMatchObject({ reason: 'cancelled' });
    expect(performance.now() - begin).toBeLessThan(300);
    engine.cancel(1);
    engine.cancel(99);
  });

  it('refuses what cannot work with typed errors', async () => {
    const engine = await load({ context: 300 });
    const code = (submit: () => void): [string, number?, number?] => {
      try {
        submit();
      } catch (error) {
        const { code, needed, available } = error as NativeError;
        return [code, needed, available];
      }
      return ['none'];
    };
    expect(code(() => engine.submit(request(1, { prompt: Array(300).fill(1) })))).toEqual([
      'context_length_exceeded',
      301,
      300,
    ]);
    expect(code(() => engine.submit(request(1, { prompt: [] })))[0]).toBe('invalid_request');
    expect(code(() => engine.submit(request(1, { prompt: [288] })))[0]).toBe('invalid_request');
    expect(code(() => engine.submit(request(1, { prompt: [-1] })))[0]).toBe('invalid_request');
    expect(code(() => engine.submit(request(1, { sampling: { topP: 0 } })))[0]).toBe('invalid_request');
    expect(code(() => engine.guide(1, { index: 0, mask: new Uint32Array(3) }))[0]).toBe('invalid_request');
    expect((await failure(engine.logits([]))).code).toBe('invalid_request');
    expect((await failure(addon.inspect('/no/such/file.gguf'))).code).toBe('file_not_found');
    expect((await failure(addon.load({ modelPath: fixture('gptoss/transformers.txt') }).engine)).code).toBe('bad_file');
    expect((await failure(addon.load({ modelPath: fixture('gptoss/tiny.gguf'), device: 'abacus' }).engine)).code).toBe(
      'invalid_request',
    );
    const small = await failure(addon.load({ modelPath: fixture('gptoss/tiny.gguf'), kvBytes: 1000 }).engine);
    expect(small.code).toBe('out_of_ram');
    expect(small.needed).toBeGreaterThan(small.available ?? Infinity);
  });

  it('answers wrong argument types with a TypeError that names them', async () => {
    const engine = await load();
    const loose = engine as unknown as Record<string, (...values: unknown[]) => unknown>;
    const wrong = addon as unknown as Record<string, (...values: unknown[]) => unknown>;
    const junk = [
      undefined,
      null,
      1.5,
      -1,
      NaN,
      'x',
      {},
      [],
      [1.5],
      ['a'],
      Symbol('s'),
      2 ** 60,
      5n,
      () => 1,
      new Float64Array(2),
    ];
    for (const value of junk) {
      for (const method of ['submit', 'guide', 'cancel', 'logits', 'allLogits', 'setEventHandler']) {
        for (const args of [
          [value],
          [1, value],
          [{ id: value }],
          [{ id: 1, prompt: value }],
          [{ id: 1, prompt: [1], sampling: value }],
        ]) {
          try {
            const result = loose[method]?.(...args);
            if (result instanceof Promise) await result.catch(() => undefined);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        }
      }
      for (const name of ['load', 'inspect', 'identify', 'machineLimits']) {
        if (
          name === 'machineLimits' &&
          (value === undefined || typeof value === 'object' || typeof value === 'function')
        )
          continue;
        try {
          const result = wrong[name]?.(value);
          if (result instanceof Promise) await result.catch(() => undefined);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }
    }
    expect(() => loose.submit?.({ id: 1, prompt: [1], sampling: { temperature: 'hot' } })).toThrow(
      /request\.sampling\.temperature/,
    );
    expect(() => loose.submit?.({ id: 1, prompt: [1, 'a'] })).toThrow(/request\.prompt\[1\]/);
    expect(() => loose.guide?.(1, { index: 0, mask: [1] })).toThrow(/guide\.mask/);
    const sharing = (mesh: unknown) => () => wrong.load?.({ modelPath: 'x', mesh }, () => undefined);
    expect(sharing({ ranks: [] })).toThrow(/options\.mesh\.ranks/);
    expect(sharing({ split: 'rows', ranks: [{ device: 'cpu' }] })).toThrow(/options\.mesh\.split/);
    expect(sharing({ ranks: [{ device: 'cpu', threads: 5000 }] })).toThrow(/ranks\[0\]\.threads/);
    expect(sharing({ ranks: [{ device: 'cpu' }], served: [{ layer: -1 }] })).toThrow(/served\[0\]\.layer/);
    expect(sharing({ ranks: [{ device: 'cpu' }], served: [{ layer: 1, experts: [-1] }] })).toThrow(
      /served\[0\]\.experts/,
    );
    expect(sharing({ ranks: [{ device: 'cpu' }], served: [3] })).toThrow(/served\[0\]/);
    expect(() => new (engine.constructor as new () => unknown)()).toThrow(TypeError);
    expect(() => loose.submit?.call({}, { id: 1 })).toThrow();
  });

  it('tells its progress and can be cancelled', async () => {
    const phases: string[] = [];
    let last = 0;
    const task = addon.load({ modelPath: fixture('gptoss/tiny.gguf') }, (phase, fraction) => {
      phases.push(phase);
      expect(fraction).toBeGreaterThanOrEqual(last);
      last = fraction;
    });
    open.push(await task.engine);
    expect([...new Set(phases)]).toEqual(['open', 'weights', 'warmup']);
    expect(last).toBe(1);
    const cancelled = addon.load({ modelPath: fixture('gptoss/tiny.gguf') });
    cancelled.cancel();
    expect((await failure(cancelled.engine)).code).toBe('cancelled');
  });

  it('ends what runs when it is closed, and refuses everything afterwards', async () => {
    const engine = await load();
    const listener = new Listener(engine);
    engine.submit(request(1, { maxTokens: 0 }));
    const logits = engine.logits(prompt);
    const begin = performance.now();
    const [closed] = await Promise.all([engine.close(), engine.close(), logits.catch(() => undefined)]);
    expect(closed).toBeUndefined();
    expect(performance.now() - begin).toBeLessThan(1000);
    expect(listener.of(1).at(-1)).toMatchObject({ kind: 'finished' });
    expect(() => engine.stats()).toThrow(/closed/);
    expect(() => engine.submit(request(2))).toThrow(/closed/);
    expect(() => engine.logits(prompt)).toThrow(/closed/);
  });

  it('gives memory back when it is closed', () => {
    // In a process of its own: there the engine is all that grows.
    const script = `
      import { createRequire } from 'node:module';
      const addon = createRequire(import.meta.url)(${JSON.stringify(addonPath())});
      const cycle = async (close) => {
        const options = { modelPath: ${JSON.stringify(fixture('gptoss/tiny.gguf'))}, kvBytes: 1 << 28, maxSequences: 64 };
        const engine = await addon.load(options).engine;
        const finished = new Promise((resolve) =>
          engine.setEventHandler((events) => events.some((e) => e.kind === 'finished') && resolve()));
        engine.submit({ id: 1, prompt: Array.from({ length: 1200 }, (_, i) => i % 256), maxTokens: 2 });
        await finished;
        if (close) await engine.close();
        gc();
        return engine;
      };
      const growth = async (close) => {
        const before = process.memoryUsage.rss();
        const kept = [];
        for (let i = 0; i < 6; ++i) kept.push(await cycle(close));
        return process.memoryUsage.rss() - before;
      };
      for (let i = 0; i < 16; ++i) await cycle(true); // until the allocator's own arenas have grown
      // A leak grows each time; an arena that one more thread begins with grows once.
      const closed = Math.min(await growth(true), await growth(true));
      console.log(JSON.stringify([closed, await growth(false)]));
      process.exit(0);
    `;
    const args = ['--expose-gc', '--input-type=module', '-e', script];
    const { stdout } = spawnSync(process.execPath, args, { timeout: 25_000, encoding: 'utf8' });
    const [closed, open] = JSON.parse(stdout) as [number, number];
    expect(closed).toBeLessThan(20e6);
    expect(open).toBeGreaterThan(40e6); // or nothing was measured
  });

  it('neither hangs nor crashes a process that ends while it works', () => {
    const script = `
      import { createRequire } from 'node:module';
      const addon = createRequire(import.meta.url)(${JSON.stringify(addonPath())});
      const engine = await addon.load({ modelPath: ${JSON.stringify(fixture('gptoss/tiny.gguf'))}, context: 4096 }).engine;
      engine.setEventHandler((events) => { if (events.some((e) => e.kind === 'token')) MODE; });
      engine.submit({ id: 1, prompt: [1, 2, 3], maxTokens: LIMIT });
    `;
    const run = (mode: string, limit: number) =>
      spawnSync(
        process.execPath,
        ['--input-type=module', '-e', script.replace('MODE', mode).replace('LIMIT', String(limit))],
        {
          timeout: 10_000,
          encoding: 'utf8',
        },
      );
    expect(run('process.exit(3)', 0)).toMatchObject({ status: 3, signal: null });
    // Nobody closes it: the process ends by itself once nothing is running.
    expect(run('1', 5)).toMatchObject({ status: 0, signal: null });
    const thrown = run('(() => { throw new Error("handler broke"); })()', 0);
    expect(thrown).toMatchObject({ status: 1, signal: null });
    expect(thrown.stderr).toContain('handler broke');
  });

  it('measures the machine', async () => {
    const limits = await addon.machineLimits({ seconds: 0.3, threads: 1 });
    expect(limits.readBytesPerSecond).toBeGreaterThan(1e8);
    expect(limits.int8OpsPerSecond).toBeGreaterThan(1e8);
    expect(limits.int8Kernel).not.toBe('');
  });

  it('lists this machine', async () => {
    const { devices } = await addon.devices();
    expect(devices[0]).toMatchObject({ id: 'cpu', kind: 'cpu' });
    expect(existsSync(addonPath() ?? '')).toBe(true);
    expect(addon.engineBuild()).not.toBe('');
  });
});
