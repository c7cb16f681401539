// What is counted, and that nothing said is counted with it.
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../../../electron/contract/runtime';
import { createTelemetry } from '../../../electron/telemetry/telemetry';
import { Percentiles, Rate } from '../../../electron/telemetry/window';

const parts = (count: number): GenerationEvent => ({
  kind: 'parts',
  id: 'a',
  index: 0,
  tokenIds: Array<number>(count).fill(1),
  parts: [{ channel: 'text', delta: 'secret words' }],
});
const end: GenerationEvent = {
  kind: 'end',
  id: 'a',
  reason: 'stop',
  usage: { promptTokens: 10, completionTokens: 3, reasoningTokens: 0, cachedTokens: 4 },
  timings: { queueMs: 0, prefillMs: 0, ttftMs: 0, decodeMs: 0, prefillTps: 0, decodeTps: 0 },
};

describe('percentiles', () => {
  it('forget old samples instead of growing', () => {
    const percentiles = new Percentiles(4);
    for (const value of [1000, 1000, 1, 2, 3, 4]) percentiles.add(value);
    expect(percentiles.count).toBe(4);
    expect(percentiles.at([0.5, 0.99])).toEqual([2, 4]);
  });

  it('have no answer without samples, rather than a zero', () => {
    expect(new Percentiles().at([0.5])).toEqual([undefined]);
  });
});

describe('rate', () => {
  it('falls to zero when nothing happens', () => {
    const rate = new Rate(5000);
    for (let at = 0; at <= 2000; at += 100) rate.add(1, at);
    expect(rate.perSecond(2000)).toBeCloseTo(10.5, 1);
    expect(rate.perSecond(60_000)).toBe(0);
  });
});

describe('telemetry', () => {
  it('tells the first token from the following ones', () => {
    let now = 0;
    const telemetry = createTelemetry(() => now);
    const watch = telemetry.answer();
    now = 500;
    watch.onEvent(parts(1));
    now = 520;
    watch.onEvent(parts(1));
    expect(telemetry.snapshot()).toMatchObject({ ttftMs: { count: 1, p50: 500 }, tbtMs: { count: 1, p50: 20 } });
  });

  it('counts tokens and ends, and never repeats what was said', async () => {
    const telemetry = createTelemetry();
    const watch = telemetry.answer();
    watch.onEvent(parts(3));
    watch.onEvent(end);
    telemetry.crashed();
    const text = await telemetry.text();
    expect(text).toContain('hearth_output_tokens_total 3');
    expect(text).toContain('hearth_answers_total{reason="stop"} 1');
    expect(text).toContain('hearth_cached_tokens_total 4');
    expect(text).toContain('hearth_runtime_crashes_total 1');
    expect(text).not.toContain('secret');
  });

  it('two apps in one process do not count into each other', async () => {
    createTelemetry().crashed();
    expect(await createTelemetry().text()).toContain('hearth_runtime_crashes_total 0');
  });
});
