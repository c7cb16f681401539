// The supervisor's decisions, without a process.
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../../../electron/contract/runtime';
import {
  CRASH_WINDOW_MS,
  DEVICE_CRASHES,
  HANG_LOOKS,
  MODEL_CRASHES,
  REQUEST_CRASHES,
  PATIENCE_MS,
  graphicsIn,
  isHung,
  isNews,
  leavesDevice,
  lostOneOfSeveral,
  nextWaiting,
  onCrash,
  resumes,
  silenceAfter,
} from '../../../electron/supervisor/policy';

const parts = (index: number, tokenIds: number[]): GenerationEvent => ({
  kind: 'parts',
  id: 'a',
  index,
  tokenIds,
  parts: [],
});

describe('restarting', () => {
  it('pauses longer after each crash, so that a broken driver does not spin the machine', () => {
    const pauses = [1, 2, 3, 4].map((count) => onCrash(Array<number>(count).fill(0), 0));
    expect(pauses.map((decision) => (decision.action === 'restart' ? decision.afterMs : -1))).toEqual([
      100, 200, 400, 800,
    ]);
  });

  it('gives a model up that crashes again and again, instead of for ever', () => {
    expect(onCrash(Array<number>(MODEL_CRASHES + 1).fill(0), 0)).toEqual({ action: 'give_up' });
  });

  it('leaves a card before its model is given up, and while the requests that saw it fail still live', () => {
    expect([0, 1, DEVICE_CRASHES].map((crashes) => leavesDevice(crashes, false))).toEqual([false, false, true]);
    expect(leavesDevice(1, true)).toBe(true);
    expect(DEVICE_CRASHES).toBeLessThanOrEqual(REQUEST_CRASHES);
    expect(DEVICE_CRASHES).toBeLessThan(MODEL_CRASHES);
  });

  it.each([
    ['lost, and it is known which', { code: 'device_lost', device: 'vulkan:2' }, ['vulkan:1', 'vulkan:2'], true],
    ['lost, and nobody knows which', { code: 'device_lost' }, ['vulkan:1', 'vulkan:2'], false],
    ['of another model', { code: 'device_lost', device: 'vulkan:3' }, ['vulkan:1', 'vulkan:2'], false],
    ['full: it may have memory again', { code: 'out_of_vram', device: 'vulkan:2' }, ['vulkan:1', 'vulkan:2'], false],
    ['lost, and alone', { code: 'device_lost', device: 'vulkan:2' }, ['vulkan:2'], false],
    ['killed', undefined, ['vulkan:1', 'vulkan:2'], false],
  ] as const)('goes on at once without one of several devices that was %s: %j', (_, failure, devices, expected) => {
    expect(lostOneOfSeveral(failure, devices)).toBe(expected);
  });

  it('finds the devices of a load, each once, and not the processor', () => {
    const rank = (device: string) => ({ device, threads: 0, share: 1, layers: 0 });
    const mesh = { split: 'tensor' as const, ranks: ['vulkan:1', 'cpu', 'vulkan:2'].map(rank), served: [] };
    expect(graphicsIn({ device: 'vulkan:1', mesh })).toEqual(['vulkan:1', 'vulkan:2']);
    expect(graphicsIn({ device: 'cpu' })).toEqual([]);
  });

  it('forgives crashes of long ago', () => {
    const old = Array<number>(MODEL_CRASHES + 5).fill(0);
    expect(onCrash([...old, CRASH_WINDOW_MS + 1], CRASH_WINDOW_MS + 1)).toEqual({ action: 'restart', afterMs: 100 });
  });

  it('ends a poisonous request before it has brought its model down for good', () => {
    const deaths = [1, 2, 3, 4, 5].findIndex((crashes) => !resumes(crashes)) + 1;
    expect(deaths).toBeLessThanOrEqual(MODEL_CRASHES);
  });
});

describe('hanging', () => {
  const after = (looks: { working: boolean; heard: boolean }[]) => looks.reduce(silenceAfter, 0);
  const silent = { working: true, heard: false };

  it('is a long silence with work at hand', () => {
    expect(isHung(after(Array<typeof silent>(HANG_LOOKS).fill(silent)))).toBe(false);
    expect(isHung(after(Array<typeof silent>(HANG_LOOKS + 1).fill(silent)))).toBe(true);
  });

  it('is neither idleness nor a word now and then', () => {
    expect(isHung(after(Array<typeof silent>(100).fill({ working: false, heard: false })))).toBe(false);
    const slow = Array.from({ length: 100 }, (_, i) => ({ working: true, heard: i % HANG_LOOKS === 0 }));
    expect(isHung(after(slow))).toBe(false);
  });
});

describe('the queue', () => {
  const request = (name: string, priority: 'interactive' | 'background', arrival: number) => ({
    name,
    priority,
    arrival,
  });

  it('does not let a background job stand before a person', () => {
    const waiting = [
      request('b', 'background', 1),
      request('late', 'interactive', 3),
      request('early', 'interactive', 2),
    ];
    expect(nextWaiting(waiting)?.name).toBe('early');
  });

  it('keeps the order of arrival within a class', () => {
    expect(nextWaiting([request('2', 'background', 2), request('1', 'background', 1)])?.name).toBe('1');
    expect(nextWaiting([])).toBeUndefined();
  });
});

describe('the background under endless interactive work', () => {
  const job = (name: string, priority: 'interactive' | 'background', arrival: number, waitedMs: number) => ({
    name,
    priority,
    arrival,
    waitedMs,
  });
  const claim = (backgroundServed: boolean) => ({
    waitedMs: (each: { waitedMs: number }) => each.waitedMs,
    backgroundServed,
  });
  const waiting = [
    job('new', 'background', 1, PATIENCE_MS - 1),
    job('old', 'background', 2, PATIENCE_MS),
    job('person', 'interactive', 3, 5),
  ];

  it('does not starve', () => {
    expect(nextWaiting(waiting, claim(false))?.name).toBe('old');
  });

  it('takes one place and no more', () => {
    expect(nextWaiting(waiting, claim(true))?.name).toBe('person');
  });
});

describe('events after a resume', () => {
  it('never shows a token twice', () => {
    const progress = { started: true, tokens: 4, ended: false };
    expect(isNews(progress, parts(3, [1]))).toBe(false);
    expect(isNews(progress, parts(4, [1]))).toBe(true);
  });

  it('keeps the text that is flushed without a token at the end', () => {
    expect(isNews({ started: true, tokens: 4, ended: false }, parts(4, []))).toBe(true);
  });

  it('announces the start once, and nothing after the end', () => {
    const start: GenerationEvent = { kind: 'start', id: 'a', promptTokens: 1, temperature: 1, droppedTurns: 0 };
    expect(isNews({ started: true, tokens: 0, ended: false }, start)).toBe(false);
    expect(isNews({ started: true, tokens: 1, ended: true }, parts(1, [1]))).toBe(false);
  });
});
