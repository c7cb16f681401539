// What a model takes of the memory, and what is said of it.
import { describe, expect, it } from 'vitest';
import {
  RESERVE_BYTES,
  automaticKv,
  choicesOf,
  contextWithin,
  fitOf,
  heldBytesOf,
  kvBytesOf,
} from '../../../electron/supervisor/fit';
import { planFor } from './plans';

const GB = 1e9;
const room = (free: number, total = 24) => ({ totalBytes: total * GB, freeBytes: free * GB, ownBytes: 0 });

describe('the memory of a conversation', () => {
  const plan = planFor('m', 4);

  it('is counted in whole blocks, as the engine takes them', () => {
    expect([1, 16, 17, 4096].map((tokens) => kvBytesOf(plan, tokens, 'f16'))).toEqual([1e6, 1e6, 2e6, 256e6]);
    expect(kvBytesOf(plan, 4096, 'q8')).toBe(128e6);
  });

  it('stops growing in groups of layers that see a window only, a prompt being read included', () => {
    const windowed = { ...plan, kv: { ...plan.kv, windows: [0, 128], prefillRows: 512 } };
    // 127 older positions and 512 new ones reach into 41 blocks at most.
    expect(kvBytesOf(windowed, 4096, 'f16')).toBe((256 + 41) * 1e6);
    expect(kvBytesOf(windowed, 320, 'f16')).toBe((20 + 20) * 1e6);
  });

  it('finds the longest context that fits, and never one that does not', () => {
    for (const bytes of [0, 1e6, 15.9e6, 16e6, 100e6, 255e6, 256e6, 1e12]) {
      const context = contextWithin(plan, bytes, 'f16');
      expect(kvBytesOf(plan, context, 'f16')).toBeLessThanOrEqual(bytes);
      if (context < 4096) expect(kvBytesOf(plan, context + 1, 'f16')).toBeGreaterThan(bytes);
    }
  });
});

it('what conversations may have is in whole bytes, however little is left', () => {
  const plan = { ...planFor('m', 4), model: { ...planFor('m', 4).model, context: 131_072 } };
  for (const left of [9e9 + 1, 9e9 + 2, 9e9 + 3]) expect(automaticKv(plan, 'f16', left, 4).max).toBe(2.25e9);
});

describe('the verdict', () => {
  const dense = planFor('m', 4);
  const experts = planFor('m', 4, { experts: 32, expertsUsed: 4 });
  const verdict = (free: number, plan = dense) => fitOf(plan, { context: 4096, kvType: 'f16' }, room(free)).verdict;

  it('changes as other programs take the memory', () => {
    expect([12, 6, 5.6, 5.2, 4].map((free) => verdict(free))).toEqual(['fits', 'fits', 'tight', 'too_big', 'too_big']);
  });

  it('lets a quarter of the experts stay on the disk where the model uses few at a time', () => {
    expect([5.2, 4.5, 4].map((free) => verdict(free, experts))).toEqual(['tight', 'tight', 'too_big']);
  });

  it('never counts the last gigabyte as free, and says what is lacking', () => {
    const fit = fitOf(dense, { context: 4096, kvType: 'f16' }, room(4));
    expect(fit.spareBytes).toBeCloseTo(4 * GB - RESERVE_BYTES - 4 * GB - 256e6 - heldBytesOf(dense), -3);
    expect(fit.weightBytes + fit.kvBytes + fit.scratchBytes + fit.spareBytes).toBeCloseTo(3 * GB, -3);
    expect(fit.otherBytes).toBe(20 * GB);
  });

  it('believes what loads really took more than its own reckoning', () => {
    expect(fitOf(dense, { context: 16, kvType: 'f16' }, room(9), { heldBytes: 3e9 }).spareBytes).toBeLessThan(1.1e9);
  });
});

describe('the expected speed', () => {
  const at = { context: 4096, kvType: 'f16' } as const;

  it('is the bandwidth by the bytes of a token, and what was measured here where something was', () => {
    const plan = planFor('m', 4);
    expect(fitOf(plan, at, room(20), { readBytesPerSecond: 20e9 }).decodeTps).toBeCloseTo(14 / 4.128, 1);
    expect(fitOf(plan, at, room(20), { readBytesPerSecond: 20e9, decodeTps: 9 })).toMatchObject({
      decodeTps: 9,
      measured: true,
    });
    expect(fitOf(plan, at, room(20)).decodeTps).toBeUndefined();
  });

  it('is that of the disk for what finds no room', () => {
    const slow = fitOf(planFor('m', 4, { experts: 8, expertsUsed: 1 }), at, room(4.5), { readBytesPerSecond: 20e9 });
    expect(slow.decodeTps).toBeLessThan(1.5);
  });
});

describe('the choices', () => {
  it('offer each pair of context and type once, and recommend the first that fits', () => {
    const { choices, recommended } = choicesOf(planFor('m', 4), room(20));
    expect(choices.map(({ id, context, kvType }) => [id, context, kvType])).toEqual([
      ['balanced', 4096, 'f16'],
      ['small', 4096, 'q8'],
    ]);
    expect(recommended).toBe('balanced');
  });

  it('reach for the whole context of a model where the memory has room for it', () => {
    const long = planFor('m', 4, { context: 131_072 }); // 8.2 GB in f16
    const { choices } = choicesOf(long, room(24));
    expect(choices.map(({ id, kvType }) => [id, kvType])).toEqual([
      ['balanced', 'f16'],
      ['long_memory', 'f16'],
      ['small', 'q8'],
    ]);
    expect(choicesOf(long, room(11)).choices.find(({ id }) => id === 'long_memory')).toMatchObject({
      context: 131_072,
      kvType: 'q8',
    });
  });

  it('recommend the smallest where nothing fits, so that the reason is what is lacking at the least', () => {
    expect(choicesOf(planFor('m', 40), room(20))).toMatchObject({ recommended: 'small' });
  });
});
