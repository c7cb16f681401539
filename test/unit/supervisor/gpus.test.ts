// What is free on the graphics devices, as it is told and as it is believed.
import { describe, expect, it, vi } from 'vitest';
import type { Device, Stats } from '../../../electron/contract/runtime';
import { loadOf, usableBytes } from '../../../electron/supervisor/fit';
import { Gpus, isGone } from '../../../electron/supervisor/gpus';
import { seenIn } from '../../../electron/supervisor/knowledge';
import { planFor } from './plans';

const GB = 1e9;
const ram = { totalBytes: 32 * GB, freeBytes: 20 * GB, ownBytes: 1 * GB, readBytesPerSecond: 50e9 };

function device(change: Partial<NonNullable<Device['graphics']>> = {}, free = 6): Device {
  const graphics = { uuid: '', pci: '', driver: '', api: '1.3', heaps: [], off: [] };
  const usual = { type: 'discrete', unified: false, budgetKnown: true } as const;
  return {
    id: 'vulkan:1',
    name: 'Card',
    kind: 'gpu',
    memoryTotal: 8 * GB,
    memoryFree: free * GB,
    features: [],
    cores: 0,
    graphics: { ...graphics, ...usual, ...change },
  };
}

const gpus = (devices: () => Device[], held = 0) => {
  const probe = { devices: vi.fn(async () => ({ devices: devices(), notes: [] })) };
  return {
    probe,
    gpus: new Gpus(
      probe,
      () => held,
      () => undefined,
    ),
  };
};

describe('a device that was used', () => {
  const card = { id: 'vulkan:1', name: 'Card' };
  it.each([
    ['is there as it was', [card], false],
    ['is there under another id, as some drivers give after an update', [{ id: 'vulkan:2', name: 'Card' }], false],
    ['is gone with its driver', [], true],
    ['is gone where software stands for it', [{ id: 'vulkan:3', name: 'llvmpipe (LLVM 15)' }], true],
  ])('%s', (_, there, gone) => {
    expect(isGone(card, there)).toBe(gone);
  });
});

describe('the memory of a device', () => {
  it.each([
    ['is what is free, and what we hold, without half a gigabyte', {}, 6, 1, 6.488],
    ['is never more than there is', {}, 7.9, 1, 7.488],
    ['is what the driver guesses where it does not see who holds what', { budgetKnown: false }, 7.2, 1, 6.688],
    ['of the machine is what its driver allows', { unified: true, type: 'integrated' }, 7, 0, 7],
  ] as const)('%s', async (_, change, free, held, usable) => {
    const [room] = await gpus(() => [device(change, free)], held * GB).gpus.rooms(ram);
    expect(room && usableBytes(room) / GB).toBeCloseTo(usable, 6);
  });

  it('of the machine is no more than the machine has, and is shown with all of it', async () => {
    const [room] = await gpus(() => [device({ unified: true, type: 'integrated' })]).gpus.rooms({
      ...ram,
      freeBytes: 3 * GB,
    });
    expect(room && usableBytes(room)).toBe(2 * GB);
    expect(room).toMatchObject({ totalBytes: 32 * GB });
    expect(room?.readBytesPerSecond).toBeUndefined();
  });
});

describe('a look', () => {
  it('is taken once for two who ask, and not at all where one was taken just now', async () => {
    const { gpus: all, probe } = gpus(() => [device()]);
    await Promise.all([all.look(), all.look()]);
    await all.look();
    expect(probe.devices).toHaveBeenCalledTimes(1);
  });

  it('that crashes the driver finds nothing, and fails nobody', async () => {
    const all = new Gpus(
      { devices: () => Promise.reject(new Error('it crashed')) },
      () => 0,
      () => undefined,
    );
    expect(await all.look()).toEqual([]);
  });

  it('passes over the processor', async () => {
    const { graphics: _, ...cpu } = { ...device(), id: 'cpu', kind: 'cpu' as const };
    expect(await gpus(() => [cpu]).gpus.look()).toEqual([]);
  });
});

describe('what a load on a device was seen to take', () => {
  const blocks = { blocksUsed: 10, blocksCached: 0, blocksFree: 0, promptTokens: 600, decodeTps: 9 };
  const stats = (rssAnonBytes: number, deviceBytes: number) =>
    ({ ...blocks, rssAnonBytes, deviceBytes, kvBytesTotal: 1 * GB }) as unknown as Stats;

  it.each([
    ['of a card, apart from its process', stats(0.2 * GB, 6 * GB), false, { heldBytes: 0.2 * GB, deviceBytes: 5 * GB }],
    [
      'of software, whose memory is its process',
      stats(6.2 * GB, 6 * GB),
      true,
      { heldBytes: 0.2 * GB, deviceBytes: 5 * GB },
    ],
    ['of the processor', stats(1.5 * GB, 0), false, { heldBytes: 0.5 * GB }],
  ])('%s', (_, seen, software, expected) => {
    const { worked: _worked, decodeTps: _tps, ...took } = seenIn(seen, 512, undefined, software);
    for (const [key, bytes] of Object.entries(expected)) expect(took[key as keyof typeof took]).toBeCloseTo(bytes, -3);
    expect(Object.keys(took)).toEqual(Object.keys(expected));
  });

  it('is believed the next time, and asks the memory of the machine for the process alone', () => {
    const gpu = { id: 'vulkan:1', name: 'Card', type: 'discrete', unified: false } as const;
    expect(loadOf(planFor('m', 4), gpu, { heldBytes: 0.2 * GB, deviceBytes: 5 * GB })).toEqual({
      weightBytes: 4 * GB,
      heldBytes: 1 * GB,
      hostBytes: 0.2 * GB,
      coldBytes: 0,
    });
  });
});
