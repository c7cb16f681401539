// What `hearth bench` makes of its measurements: medians that one bad run does not move, and fractions that say what they are fractions of.
import { describe, expect, it } from 'vitest';
import { spread, summarise, words } from '../../../electron/cli/bench-report';

const measured = (prefillTps: number, decodeTps: number) => ({
  prefillTps,
  decodeTps,
  ttftMs: 1000 / prefillTps,
  tbtMs: { p50: 1, p95: 2, p99: 3, max: 1000 / decodeTps },
  peakAnonBytes: 2e8 + decodeTps,
  kvBytes: 5e7,
  work: { prefillOps: 6e9, decodeBytes: 4e9 },
});
const limits = (readBytesPerSecond: number) => ({
  threads: 2,
  readBytesPerSecond,
  int8OpsPerSecond: 1.2e12,
  int8Kernel: 'avx2',
});

describe('a row of the bench', () => {
  const row = summarise(
    { prefill: 512, decode: 64, sequences: 4 },
    [measured(100, 20), measured(10, 1), measured(120, 24)],
    [limits(50e9), limits(30e9)],
  );

  it('is not moved by one bad run, and shows it', () => {
    expect(row.prefill_tps).toEqual({ median: 100, least: 10, most: 120 });
    expect(row.tbt_ms.max).toBe(1000);
  });

  it('counts the bytes of a step once for all sequences of it, against the limits around it', () => {
    // 20 tokens a second of 4 sequences are 5 steps of 4 GB; the machine read 40 GB/s between a good and a bad phase.
    expect(row.fractions.decode_bandwidth).toBeCloseTo((5 * 4e9) / 40e9);
    expect(row.fractions.prefill_compute).toBeCloseTo((100 * 6e9) / 1.2e12);
  });

  it('says in words what was measured and on what', () => {
    const text = words([row], 1234, 'cpu/avx2');
    expect(text).toContain('100.0 (10.0–120.0)');
    expect(text).toContain('reads 40.0 GB/s, multiplies 1200 GOP/s (avx2), 2 threads');
    expect(text).toContain('loaded in 1234 ms');
  });
});

describe('a spread', () => {
  it('of an even number lies between the middle two, and of none is nought', () => {
    expect(spread([4, 1, 2, 10])).toEqual({ median: 3, least: 1, most: 10 });
    expect(spread([])).toEqual({ median: 0, least: 0, most: 0 });
  });
});
