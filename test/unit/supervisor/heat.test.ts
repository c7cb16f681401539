// Failures prevented: old habits that rule for ever, counts of one load that are added twice, and a few words that are taken for a habit.
import { describe, expect, it } from 'vitest';
import type { LayerUses } from '../../../electron/contract/runtime';
import { added, heatOf, since, soundUses } from '../../../electron/supervisor/heat';

const layer = (rows: number, ...experts: number[]): LayerUses => ({ rows, experts });
const never = layer(0);
const model = { layers: 2, experts: 4, expertsUsed: 2 };

describe('counts that can be', () => {
  it.each<[string, LayerUses[], LayerUses[]]>([
    [
      'stay as they are',
      [layer(10, 10, 5, 5, 0), layer(8, 4, 4, 4, 4)],
      [layer(10, 10, 5, 5, 0), layer(8, 4, 4, 4, 4)],
    ],
    ['of a layer that nobody counted', [layer(0, 0, 0, 0, 0), layer(8, 4, 4, 4, 4)], [never, layer(8, 4, 4, 4, 4)]],
    ['of another number of experts', [layer(10, 10, 10), layer(8, 4, 4, 4, 4)], [never, layer(8, 4, 4, 4, 4)]],
    ['more often than there were rows', [layer(10, 90, 0, 0, 0), layer(8, 4, 4, 4, 4)], [never, layer(8, 4, 4, 4, 4)]],
    ['below nothing', [layer(10, -1, 5, 5, 5), layer(8, 4, 4, 4, 4)], [never, layer(8, 4, 4, 4, 4)]],
    ['no numbers', [layer(10, NaN, 5, 5, 5), layer(Infinity, 1, 1, 1, 1)], [never, never]],
    ['of another number of layers', [layer(10, 10, 5, 5, 0)], []],
    ['of nothing', [], []],
  ])('%s', (_, uses, sound) => {
    expect(soundUses(uses, model)).toEqual(sound);
  });
});

describe('what is new since the last look', () => {
  it.each<[string, LayerUses[], LayerUses[], LayerUses[]]>([
    ['all of it at the first', [], [layer(10, 9, 1)], [layer(10, 9, 1)]],
    ['the difference', [layer(10, 9, 1)], [layer(14, 10, 4)], [layer(4, 1, 3)]],
    ['nothing where nothing happened', [layer(10, 9, 1)], [layer(10, 9, 1)], [layer(0, 0, 0)]],
    ['all of a runtime that was started again', [layer(10, 9, 1)], [layer(6, 3, 3)], [layer(6, 3, 3)]],
    ['all of one that has more rows already', [layer(10, 9, 1)], [layer(12, 6, 6)], [layer(12, 6, 6)]],
    ['a layer that is counted from now on', [never], [layer(3, 3, 0)], [layer(3, 3, 0)]],
  ])('is %s', (_, before, now, fresh) => {
    expect(since(before, now)).toEqual(fresh);
  });
});

describe('old and new together', () => {
  it.each<[string, LayerUses[], LayerUses[], LayerUses[]]>([
    ['are the new where nothing was known', [], [layer(10, 9, 1)], [layer(10, 9, 1)]],
    ['are the old where nothing is new', [layer(10, 9, 1)], [layer(0, 0, 0)], [layer(10, 9, 1)]],
    ['fade by half in half a million rows', [layer(800, 800, 0)], [layer(5e5, 0, 5e5)], [layer(500_400, 400, 5e5)]],
    [
      'are reckoned for each layer by itself',
      [layer(800, 800, 0), layer(4, 4, 0)],
      [layer(5e5, 0, 5e5), never],
      [layer(500_400, 400, 5e5), layer(4, 4, 0)],
    ],
  ])('%s', (_, known, fresh, sum) => {
    expect(added(known, fresh)).toEqual(sum);
  });

  it('forget a habit, however old, for another one, and do not grow without bound', () => {
    let uses = added([], [layer(1e9, 1e9, 0)]);
    for (let day = 0; day < 60; day += 1) uses = added(uses, [layer(1e5, 0, 1e5)]);
    const [old = Infinity, late = 0] = uses[0]?.experts ?? [];
    expect(late).toBeGreaterThan(2 * old);
    for (let day = 0; day < 60; day += 1) uses = added(uses, [layer(1e5, 0, 1e5)]);
    expect(uses[0]?.rows).toBeLessThan(1e6);
  });
});

describe('heat', () => {
  it('is nothing where nobody counted, or what was counted is another model’s', () => {
    expect(heatOf([], model)).toBeUndefined();
    expect(heatOf([never, never], model)).toBeUndefined();
    expect(heatOf([layer(10, 10, 5, 5, 0)], model)).toBeUndefined();
  });

  it('leaves out layers that were never counted', () => {
    expect(heatOf([never, layer(1e6, 5e5, 5e5, 5e5, 5e5)], model)).toEqual([undefined, [1, 1, 1, 1]]);
  });

  it('is relative to an even use', () => {
    const [one = []] = heatOf([layer(1e6, 8e5, 7e5, 4e5, 1e5), never], model) ?? [];
    expect(one.map((each) => Math.round(100 * each))).toEqual([160, 140, 80, 20]);
  });

  it('takes a few rows for no habit', () => {
    for (const each of heatOf([layer(20, 20, 20, 0, 0), never], model)?.[0] ?? [])
      expect(Math.abs(each - 1)).toBeLessThan(0.05);
  });
});
