// Where models are loaded, and what becomes of those whose card fails: with children that play the engine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExperienceStore } from '../../../electron/supervisor/knowledge';
import type { Supervisor } from '../../../electron/supervisor/types';
import { collect, harness, model, until, work, type Harness, type Script } from './harness';

const CARD = `vulkan:${'0'.repeat(32)}`;
let open: Supervisor[] = [];
afterEach(async () => {
  await Promise.all(open.map((supervisor) => supervisor.close()));
  open = [];
});

function start(
  wish: { device?: string; gpuRequired?: boolean } = {},
  fake = 'there',
  store?: ExperienceStore,
  env: Record<string, string> = {},
): Harness {
  const devices = () => ({ device: 'auto', gpuRequired: false, ...wish });
  const made = harness({ devices, ...(store && { store }) }, { FAKE_GPU: fake, ...env });
  open.push(made.supervisor);
  return made;
}

/** Measurements as the store keeps them. */
function memory(): ExperienceStore {
  const all: Parameters<ExperienceStore['addMeasurement']>[0][] = [];
  return {
    addMeasurement: async (measurement) => void all.unshift(measurement),
    measurements: async (kind, subject) => all.filter((each) => each.kind === kind && each.subject === subject),
  };
}

const ONE = model('/m/one-4gb');

describe('a model', () => {
  it('goes onto the card by itself, and says which one', async () => {
    const { supervisor } = start();
    expect(await supervisor.load(ONE)).toMatchObject({ device: CARD, kernels: 'vulkan/fake Card' });
    expect(supervisor.active()).toMatchObject({ device: CARD, gpu: 'Card' });
    expect(supervisor.card()).toMatchObject({ totalBytes: 8e9 });
  });

  it.each([
    ['that is too large for the card goes to the processor', model('/m/two-12gb'), {}, 'cpu'],
    ['goes to the processor where the settings say so', ONE, { device: 'cpu' }, 'cpu'],
    ['goes where the settings say, card or not', ONE, { device: CARD }, CARD],
  ])('%s', async (_, ref, wish, device) => {
    expect((await start(wish).supervisor.load(ref)).device).toBe(device);
  });

  it('is loaded anew where somebody names another device, and not where nobody does', async () => {
    const { supervisor, children } = start();
    await supervisor.load(ONE);
    await supervisor.load(ONE);
    expect(children).toHaveLength(1);
    expect((await supervisor.load(ONE, { device: 'cpu' })).device).toBe('cpu');
  });

  it.each([
    ['names a card that is not there', { device: `vulkan:${'1'.repeat(32)}` }, {}],
    ['names the processor where a card is required', { device: 'cpu' }, { gpuRequired: true }],
  ])('is not loaded where the wish %s', async (_, wish, settings) => {
    await expect(start(settings).supervisor.load(ONE, wish)).rejects.toMatchObject({ code: 'device_unavailable' });
  });

  it('says how much the card has no room for any more', async () => {
    const { supervisor } = start({}, 'spilling');
    await supervisor.load(ONE);
    await until(() => supervisor.active()?.spilledBytes === 2e9);
  });

  it('comes on the processor, and says why, where the card refuses it at the load', async () => {
    const { supervisor } = start({}, 'gone');
    expect((await supervisor.load(ONE)).device).toBe('cpu');
    expect(supervisor.active()).toMatchObject({ fallback: { device: 'Card', code: 'device_unavailable' } });
  });

  it('is not loaded at all where a card is required and refuses it', async () => {
    const { supervisor } = start({ gpuRequired: true }, 'gone');
    await expect(supervisor.load(ONE)).rejects.toMatchObject({ code: 'device_unavailable' });
  });
});

describe('a card that is not there any more', () => {
  const MISSING = { device: 'Card', driver: 'fake', code: 'device_unavailable' };

  it.each([
    ['is said at the next start, and at each load', { device: 'auto' }, MISSING],
    ['is nothing to who has chosen the processor', { device: 'cpu' }, undefined],
  ])('%s', async (_, wish, fallback) => {
    const store = memory();
    const before = start({}, 'there', store);
    expect((await before.supervisor.load(ONE)).device).toBe(CARD);
    await before.supervisor.close();
    const { supervisor } = start(wish, '', store);
    for (let load = 0; load < 2; load++) {
      expect((await supervisor.load(ONE)).device).toBe('cpu');
      expect(supervisor.active()?.fallback).toEqual(fallback);
      await supervisor.unload();
    }
  });

  it('is an error to who has named it', async () => {
    const store = memory();
    await start({}, 'there', store).supervisor.load(ONE);
    await expect(start({ device: CARD }, '', store).supervisor.load(ONE)).rejects.toMatchObject({
      code: 'device_unavailable',
    });
  });

  it('after a sleep is said, and the answer goes on on the processor', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hearth-card-'));
    const { supervisor } = start({}, join(folder, 'used'));
    const { tokens, end } = await collect(supervisor.generate(ONE, work({ tokens: 12, lostAt: 5 })));
    expect([tokens.length, end?.reason]).toEqual([12, 'stop']);
    expect(supervisor.active()).toMatchObject({ device: 'cpu', fallback: MISSING });
    rmSync(folder, { recursive: true });
  });
});

describe('an answer on a card', () => {
  const whole = (tokens: number[]) => expect(tokens).toHaveLength(12);

  it('goes on there after one crash, with every token once', async () => {
    const { supervisor } = start();
    const { tokens, end } = await collect(supervisor.generate(ONE, work({ tokens: 12, crashAt: 5, onCard: true })));
    whole(tokens);
    expect([end?.reason, supervisor.active()?.device]).toEqual(['stop', CARD]);
    expect(supervisor.active()?.fallback).toBeUndefined();
  });

  it.each([
    ['that crashes again and again', { crashAt: 5, crashAlways: true, onCard: true }, 'runtime_crashed'],
    ['that is lost each time', { lostAt: 5 }, 'device_lost'],
    ['that finds no memory there', { fullAt: 5 }, 'out_of_vram'],
  ])('%s ends on the processor, with every token once, and it is said', async (_, script, code) => {
    const { supervisor } = start();
    const { tokens, end } = await collect(supervisor.generate(ONE, work({ tokens: 12, ...script })));
    whole(tokens);
    expect(end?.reason).toBe('stop');
    await until(() => supervisor.active()?.state === 'ready');
    expect(supervisor.active()).toMatchObject({ device: 'cpu', fallback: { device: 'Card', driver: 'fake', code } });
    expect(supervisor.active()?.gpu).toBeUndefined();
  });

  it('never comes back on the processor where a card is required', async () => {
    const { supervisor } = start({ gpuRequired: true });
    const answer = collect(supervisor.generate(ONE, work({ tokens: 12, lostAt: 5 })));
    const error = { code: 'device_lost', message: expect.stringContaining('Card, driver fake') as string };
    await expect(answer).resolves.toMatchObject({ end: { reason: 'error', error } });
    expect(supervisor.active()?.device).not.toBe('cpu');
  });

  it('that asks for too much of a required card ends alone, and the others go on', async () => {
    const { supervisor, children } = start({ gpuRequired: true });
    const [greedy, other] = await Promise.all([
      collect(supervisor.generate(ONE, work({ tokens: 12, delayMs: 5, fullAt: 5 }))),
      collect(supervisor.generate(ONE, work({ tokens: 12, delayMs: 10 }))),
    ]);
    expect(greedy.end).toMatchObject({ reason: 'error', error: { code: 'out_of_vram' } });
    expect([other.end?.reason, other.tokens.length, children.length]).toEqual(['stop', 12, 1]);
  });
});

describe('an answer on two cards', () => {
  /** Too large for either. */
  const SHARED = model('/m/shared-12gb');
  const lost = (device: string, code = 'device_lost') => ({ fallback: { device, driver: 'fake', code } });
  const two = (wish: { gpuRequired?: boolean } = {}, store?: ExperienceStore, env?: Record<string, string>) =>
    start(wish, 'two', store, env);
  const answer = ({ supervisor }: Harness, script: Omit<Script, 'tokens'>) =>
    collect(supervisor.generate(SHARED, work({ tokens: 12, ...script })));

  it('is computed on both', async () => {
    const { supervisor } = two();
    await supervisor.load(SHARED);
    expect(supervisor.active()).toMatchObject({ gpu: 'Card, Second', kernels: 'vulkan/fake Card + Second' });
  });

  it.each([
    ['lost: on the other, at once', { lostAt: 5, on: 'Second' }, 'Card', lost('Second'), 2],
    ['lost: it is not the second that is named', { lostAt: 5, on: 'Card' }, 'Second', lost('Card'), 2],
    [
      'full: on both once more, then on the other',
      { fullAt: 5, on: 'Second' },
      'Card',
      lost('Second', 'out_of_vram'),
      3,
    ],
  ])('of which one is %s', async (_, script, gpu, expected, runtimes) => {
    const made = two();
    const { tokens, end } = await answer(made, script);
    expect([tokens.length, new Set(tokens).size, end?.reason]).toEqual([12, 12, 'stop']);
    expect(made.children).toHaveLength(runtimes);
    expect(made.supervisor.active()).toMatchObject({ state: 'ready', gpu, ...expected });
  });

  it.each([
    ['lost, one after the other', { lostAt: 5 }, 'device_lost'],
    ['taken along by whatever ends the runtime', { crashAt: 5, crashAlways: true, onCard: true }, 'runtime_crashed'],
  ])('that are %s ends on the processor, and both are named', async (_, script, code) => {
    const made = two();
    const { tokens, end } = await answer(made, script);
    expect([tokens.length, end?.reason]).toEqual([12, 'stop']);
    expect(made.supervisor.active()).toMatchObject({ device: 'cpu', ...lost('Card, Second', code) });
  });

  it('of which the lost one is required ends with its error, which names it', async () => {
    const made = two({ gpuRequired: true });
    const { end } = await answer(made, { lostAt: 5, on: 'Second' });
    expect(end?.error).toMatchObject({ code: 'device_lost', device: `vulkan:${'2'.repeat(32)}` });
    expect(end?.error?.message).toContain('Second, driver fake');
    expect(made.supervisor.active()?.fallback).toBeUndefined();
  });

  it('of which one is gone after a sleep goes on on the other, and it is said, at the next start, too, until it is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hearth-slept-'));
    const [store, env] = [memory(), { FAKE_SLEPT: join(folder, 'slept') }];
    const made = two({}, store, env);
    const { tokens, end } = await answer(made, { sleepAt: 5 });
    expect([tokens.length, end?.reason]).toEqual([12, 'stop']);
    const told = { gpu: 'Card', ...lost('Second', 'device_unavailable') };
    expect(made.supervisor.active()).toMatchObject(told);
    await made.supervisor.close();
    const next = two({}, store, env).supervisor;
    await next.load(SHARED);
    expect(next.active()).toMatchObject(told);
    await next.close();
    rmSync(folder, { recursive: true }); // it is back
    const last = two({}, store, env).supervisor;
    await last.load(SHARED);
    expect(last.active()).toMatchObject({ gpu: 'Card, Second' });
    expect(last.active()?.fallback).toBeUndefined();
  });

  it('keeps away from the lost one at the next load, until somebody asks for the model as such', async () => {
    const made = two();
    await answer(made, { lostAt: 5, on: 'Second' });
    await made.supervisor.unload();
    await answer(made, {});
    expect(made.supervisor.active()).toMatchObject({ gpu: 'Card', ...lost('Second') });
    await made.supervisor.unload();
    await made.supervisor.load(SHARED);
    expect(made.supervisor.active()).toMatchObject({ gpu: 'Card, Second' });
    expect(made.supervisor.active()?.fallback).toBeUndefined();
  });
});
