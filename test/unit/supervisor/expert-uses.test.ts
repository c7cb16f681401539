// Failures prevented: uses that are counted twice or lost, an unload that waits for a runtime that hangs, and a store that is asked for nothing.
import { describe, expect, it } from 'vitest';
import type { LayerUses } from '../../../electron/contract/runtime';
import { ExpertUses } from '../../../electron/supervisor/expert-uses';
import type { ModelHost } from '../../../electron/supervisor/model-host';
import type { StoredUses } from '../../../electron/store/types';
import { planFor } from './plans';

const plan = planFor('m', 1, { layers: 1, experts: 2, expertsUsed: 1 });
const uses = (rows: number, ...experts: number[]): LayerUses[] => [{ rows, experts }];

/** A runtime that has counted this. */
function host(counted: LayerUses[]) {
  const self = { state: 'ready' as ModelHost['state'], counted, asked: 0, answers: true };
  const call = () => {
    self.asked += 1;
    return self.answers ? Promise.resolve({ layers: self.counted }) : new Promise(() => undefined);
  };
  return Object.assign(self, { call: call as unknown as ModelHost['call'] });
}

function memory(known?: LayerUses[]) {
  const saved: StoredUses[] = [];
  const store = {
    expertUses: async () => saved.at(-1) ?? (known && { layers: known, served: [] }),
    saveExpertUses: async (each: StoredUses) => void saved.push(each),
  };
  return { saved, store };
}

const look = async (all: ExpertUses, from: ReturnType<typeof host>) => all.keep(plan, await all.ask(from, plan));

describe('uses of experts', () => {
  it('are kept for the next load, and each counts once', async () => {
    const { saved, store } = memory();
    const all = new ExpertUses(store);
    const runtime = host(uses(1e4, 9e3, 1e3));
    await look(all, runtime);
    await look(all, runtime);
    runtime.counted = uses(2e4, 1.8e4, 2e3);
    await look(all, runtime);
    expect(saved).toHaveLength(2);
    expect(saved[1]?.layers[0]?.rows).toBeCloseTo(2e4, -3);
    const next = new ExpertUses(store);
    const [heat = []] = (await next.habit(plan)).heat ?? [];
    expect(heat[0]).toBeGreaterThan(4 * (heat[1] ?? Infinity));
  });

  it('of two looks at once are both kept, on top of what the store has', async () => {
    const { saved, store } = memory(uses(100, 100, 0));
    const all = new ExpertUses(store);
    const [one, two] = [host(uses(10, 0, 10)), host(uses(20, 0, 20))];
    await Promise.all([look(all, one), look(all, two)]);
    expect(saved.at(-1)?.layers[0]?.experts.map(Math.round)).toEqual([100, 30]);
  });

  it('stand beside the experts that were apart from their layers at the last load, each kept without the other lost', async () => {
    const { saved, store } = memory();
    const all = new ExpertUses(store);
    const served = [{ layer: 0, experts: [1] }];
    await Promise.all([look(all, host(uses(10, 10, 0))), all.placed(plan, served)]);
    await all.placed(plan, [{ layer: 0, experts: [1] }]);
    expect(saved).toHaveLength(2);
    expect(saved[1]).toMatchObject({ layers: [{ rows: 10 }], served });
    expect((await new ExpertUses(store).habit(plan)).before).toEqual(served);
  });

  it('leave out what a measurement made up, and nothing that was before it', async () => {
    const { saved, store } = memory();
    const all = new ExpertUses(store);
    const runtime = host(uses(10, 10, 0));
    const failing = all.aside(runtime, plan, async () => {
      runtime.counted = uses(60, 10, 50);
      throw new Error('It ended.');
    });
    await expect(failing).rejects.toThrow('It ended.');
    runtime.counted = uses(70, 20, 50);
    await look(all, runtime);
    expect(saved.at(-1)?.layers[0]?.experts.map(Math.round)).toEqual([20, 0]);
  });

  it('are not asked for in the middle of a measurement', async () => {
    const { saved, store } = memory();
    const all = new ExpertUses(store);
    const runtime = host(uses(10, 10, 0));
    await all.aside(runtime, plan, async () => {
      runtime.counted = uses(60, 10, 50);
      await all.nowAndThen(runtime, plan);
    });
    expect(saved).toHaveLength(1);
    await all.nowAndThen(runtime, plan);
    expect(saved.at(-1)?.layers[0]?.experts.map(Math.round)).toEqual([10, 0]);
  });

  it('are asked for every few minutes of who works on', async () => {
    const { saved, store } = memory();
    const all = new ExpertUses(store);
    const runtime = host(uses(10, 10, 0));
    for (let tick = 0; tick < 5; tick += 1) await all.nowAndThen(runtime, plan);
    expect(runtime.asked).toBe(1);
    expect(saved).toHaveLength(1);
  });

  it('keep nobody waiting for a runtime that does not answer', async () => {
    const { saved, store } = memory();
    const runtime = host(uses(10, 10, 0));
    runtime.answers = false;
    const begun = Date.now();
    await look(new ExpertUses(store), runtime);
    expect(Date.now() - begun).toBeLessThan(2000);
    expect(saved).toEqual([]);
  });

  it('are not asked of a model without experts, nor of one that is not there', async () => {
    const all = new ExpertUses(undefined);
    const runtime = host(uses(10, 10, 0));
    const dense = planFor('d', 1);
    await all.keep(dense, await all.ask(runtime, dense));
    expect(await all.habit(dense)).toEqual({});
    runtime.state = 'restarting';
    await look(all, runtime);
    expect(runtime.asked).toBe(0);
  });

  it('of another shape than the model’s are dropped, from a runtime and from the store', async () => {
    const { saved, store } = memory([{ rows: 9e5, experts: [9e5, 0, 0] }]);
    const all = new ExpertUses(store);
    await look(all, host([{ rows: 10, experts: [10, 0, 0] }]));
    await look(all, host([{ rows: 10, experts: [11, 900] }]));
    expect(saved).toEqual([]);
    expect((await all.habit(plan)).heat).toBeUndefined();
  });

  it('are known until the end where the store fails', async () => {
    const broken = () => Promise.reject(new Error('no disk'));
    const all = new ExpertUses({ expertUses: broken, saveExpertUses: broken });
    await look(all, host(uses(1e5, 9e4, 1e4)));
    const [heat = []] = (await all.habit(plan)).heat ?? [];
    expect(heat[0]).toBeGreaterThan(heat[1] ?? Infinity);
  });
});
