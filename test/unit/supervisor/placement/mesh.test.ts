// Failures prevented: a plan that the engine carries out as another one: layers, experts or keys and values on another device than reckoned.
import { describe, expect, it } from 'vitest';
import type { Mesh } from '../../../../electron/contract/runtime';
import { devicesOf, kvOf, meshOf, shareOut } from '../../../../electron/supervisor/placement/mesh';
import { placements } from '../../../../electron/supervisor/placement/place';
import { sizesOf, total } from '../../../../electron/supervisor/placement/sizes';
import type { Placement, Share } from '../../../../electron/supervisor/placement/types';
import { MACHINES, machineOf } from './machines';
import { MODELS } from './models';

const [small] = MODELS as [(typeof MODELS)[number]];
const share = (device: string, more: Partial<Share> = {}): Share => ({
  device,
  name: device,
  kind: device === 'cpu' ? 'cpu' : 'gpu',
  layers: 0,
  fraction: 1,
  experts: 0,
  weightBytes: 1,
  kvBytes: 0,
  scratchBytes: 0,
  ...more,
});
const plan = (kind: Placement['kind'], shares: Share[], served?: Placement['served']): Placement => ({
  kind,
  shares,
  ...(served && { served }),
  decodeTps: 1,
  prefillTps: 1,
  spareBytes: 0,
});
const rank = (device: string, more: Partial<Mesh['ranks'][number]> = {}) => ({
  device,
  threads: 0,
  share: 1,
  layers: 0,
  ...more,
});

describe('a plan in the words of the engine', () => {
  it.each<[string, Placement, Mesh | undefined]>([
    ['one device needs no words', plan('gpu', [share('a', { layers: 24, experts: 768 })]), undefined],
    [
      'shares of every layer',
      plan('tensor_parallel', [share('a', { layers: 24, fraction: 0.7 }), share('b', { layers: 24, fraction: 0.3 })]),
      { split: 'tensor', ranks: [rank('a', { share: 0.7 }), rank('b', { share: 0.3 })], served: [] },
    ],
    [
      'layers in a row',
      plan('layer_split', [share('a', { layers: 10, experts: 320 }), share('b', { layers: 14, experts: 448 })]),
      { split: 'layers', ranks: [rank('a', { layers: 10 }), rank('b', { layers: 14 })], served: [] },
    ],
    [
      'two that have all of it',
      plan('handover', [share('a', { layers: 24, experts: 768 }), share('cpu', { layers: 24, experts: 768 })]),
      { split: 'handover', ranks: [rank('a'), rank('cpu')], served: [] },
    ],
    [
      'experts that are elsewhere, all of a layer or some',
      plan(
        'experts_in_ram',
        [share('a', { layers: 24, experts: 734 }), share('cpu', { experts: 34 })],
        [{ layer: 3, experts: [7, 30] }, { layer: 9 }],
      ),
      { split: 'layers', ranks: [rank('a', { layers: 24 })], served: [{ layer: 3, experts: [7, 30] }, { layer: 9 }] },
    ],
    [
      'of two cards, beside layers on the processor',
      plan(
        'gpus_and_ram',
        [
          share('a', { layers: 10, experts: 8 * 32 }),
          share('b', { layers: 13, experts: 12 * 32 }),
          share('cpu', { layers: 1, experts: 4 * 32 }),
        ],
        [8, 9, 22].map((layer) => ({ layer })),
      ),
      {
        split: 'layers',
        ranks: [rank('a', { layers: 10 }), rank('b', { layers: 13 }), rank('cpu', { layers: 1 })],
        served: [8, 9, 22].map((layer) => ({ layer })),
      },
    ],
  ])('%s', (_, placement, want) => {
    expect(meshOf(placement)).toEqual(want);
  });

  it('every plan has every layer once, and experts where the bytes were reckoned', () => {
    for (const machine of MACHINES) {
      const all = placements(sizesOf(small, 8192, 'f16'), machineOf(machine));
      for (const placement of all) {
        const mesh = meshOf(placement);
        if (!mesh) continue;
        if (mesh.split === 'layers') expect(total(mesh.ranks.map(({ layers }) => layers))).toBe(24);
        else if (mesh.split === 'tensor') expect(total(mesh.ranks.map((each) => each.share))).toBeCloseTo(1, 6);
        const left = total(placement.shares.map(({ kind, experts }) => (kind === 'gpu' ? experts : 0)));
        if (mesh.split === 'layers' && placement.shares.every(({ kind, layers }) => kind === 'gpu' || layers === 0))
          expect(mesh.served).toHaveLength(24 - left / 32);
      }
    }
  });
});

describe('working space', () => {
  const [whole, row, share] = [200e6, 150e6, 40e6];
  const sized = (kind: Placement['kind'], name: string): number[] => {
    const machine = MACHINES.find((each) => each.name === name) as (typeof MACHINES)[number];
    const told = sizesOf({ ...small, deviceScratchBytes: whole, scratchOfParts: { row, share } }, 8192, 'f16');
    const taken = placements(told, machineOf(machine)).find((each) => each.kind === kind)?.shares ?? [];
    const besides = told.scratch.gpu - whole; // padding and blocks that are not full
    return taken.map(({ scratchBytes }) => Math.round((scratchBytes - besides) / 1e6));
  };

  it('is counted for each device as what it has, not as the whole for each', () => {
    expect(sized('tensor_parallel', '2×24 GB')).toEqual([120, 120]);
    const uneven = sized('tensor_parallel', '24+16 GB');
    expect(total(uneven)).toBe(240);
    expect(uneven[0]).toBeGreaterThan(uneven[1] ?? 0);
    expect(sized('layer_split', '2×24 GB')).toEqual([200, 150]);
  });
});

describe('keys and values', () => {
  it('are shared as the engine cuts heads', () => {
    expect(shareOut(90, [1, 1, 1, 1])).toEqual([23, 23, 22, 22]);
    expect(shareOut(8, [0.7, 0.3])).toEqual([6, 2]);
    expect(shareOut(4, [99, 1])).toEqual([3, 1]);
    const two = plan('tensor_parallel', [share('a', { fraction: 0.7 }), share('b', { fraction: 0.3 })]);
    expect(kvOf(two, { ...small, mostShares: 8 })).toEqual({ parts: [0.75, 0.25], scale: 1 });
  });

  it('are on both devices where they are handed over', () => {
    const two = plan('handover', [share('a', { layers: 24 }), share('b', { layers: 24 })]);
    expect(kvOf(two, small)).toEqual({ parts: [0.5, 0.5], scale: 2 });
  });

  it('take blocks as large as the fullest group of each device', () => {
    // Of 24 layers in turn in two groups: 11 have 6 and 5, 13 have 6 and 7; together they would have 12 of each.
    const row = plan('layer_split', [share('a', { layers: 11 }), share('b', { layers: 13 }), share('cpu')]);
    expect(kvOf(row, small)).toEqual({ parts: [6 / 13, 7 / 13, 0], scale: 13 / 12 });
  });
});

it('the speed of a plan is remembered under its devices', () => {
  expect(devicesOf(plan('gpu', [share('a')]))).toBe('a');
  expect(devicesOf(plan('layer_split', [share('a'), share('b')]))).toBe('layer_split a b');
});
