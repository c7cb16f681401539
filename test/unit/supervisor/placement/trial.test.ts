// Which of two ways to share a model is kept. Failures prevented: a slower way that stays because it was tried first, a trial that cannot pay, one
// that is repeated, loads that go to and fro.
import { describe, expect, it } from 'vitest';
import { fasterOf, rivalsOf, worthTrying, type Rates } from '../../../../electron/supervisor/placement/trial';
import type { Placement } from '../../../../electron/supervisor/placement/types';

function way(kind: Placement['kind'], devices: string, decodeTps = 10, prefillTps = 100): Placement {
  const shares = devices.split(' ').map((device) => ({
    ...{ device, name: device, kind: 'gpu' as const, layers: 1, fraction: 1, experts: 0 },
    ...{ weightBytes: 1, kvBytes: 0, scratchBytes: 0 },
  }));
  return { kind, shares, decodeTps, prefillTps, spareBytes: 0 };
}
const row = way('layer_split', 'a b');
const tensor = (decodeTps = 10, prefillTps = 100) => way('tensor_parallel', 'b a', decodeTps, prefillTps);

describe('the ways that are compared', () => {
  it.each([
    ['the other kind on the same devices, in any order', row, [row, tensor()], 1],
    ['not on fewer devices', row, [way('gpu', 'a'), way('tensor_parallel', 'a c')], 0],
    ['none where a part is in the machine’s memory', way('gpus_and_ram', 'a b'), [tensor()], 0],
  ])('%s', (_, chosen, all, count) => {
    expect(rivalsOf(chosen, all)).toHaveLength(count);
  });
});

describe('what is kept', () => {
  it.each<[string, Rates | undefined, Rates | undefined, boolean]>([
    ['the faster one', { decodeTps: 10, prefillTps: 100 }, { decodeTps: 12, prefillTps: 100 }, true],
    [
      'the chosen one, where it is as fast',
      { decodeTps: 10, prefillTps: 100 },
      { decodeTps: 10, prefillTps: 100 },
      false,
    ],
    ['by a whole turn: reading counts', { decodeTps: 10, prefillTps: 400 }, { decodeTps: 11, prefillTps: 40 }, false],
    ['the chosen one, where the other was never measured', { decodeTps: 1, prefillTps: 1 }, undefined, false],
    ['the chosen one, where it was not measured itself', undefined, { decodeTps: 99, prefillTps: 99 }, false],
  ])('%s', (_, own, others, changes) => {
    const ratesOf = ({ kind }: Placement) => (kind === 'layer_split' ? own : others);
    expect(fasterOf(row, [tensor()], ratesOf) !== undefined).toBe(changes);
  });

  it('is not left for the way that it was compared with', () => {
    const ratesOf = ({ kind }: Placement) => ({ decodeTps: kind === 'layer_split' ? 10 : 12, prefillTps: 100 });
    const kept = fasterOf(row, [tensor()], ratesOf) as Placement;
    expect(kept.kind).toBe('tensor_parallel');
    expect(fasterOf(kept, [row], ratesOf)).toBeUndefined();
  });
});

describe('what is tried', () => {
  it.each<[string, Placement, Rates | undefined, boolean]>([
    ['an estimate within a factor of two', tensor(6, 60), undefined, true],
    ['a better one', tensor(20, 200), undefined, true],
    ['not one that is far behind', tensor(4, 40), undefined, false],
    ['not what was measured before', tensor(20, 200), { decodeTps: 1, prefillTps: 1 }, false],
  ])('%s', (_, rival, rates, tries) => {
    expect(worthTrying(row, [rival], () => rates) !== undefined).toBe(tries);
  });
});
