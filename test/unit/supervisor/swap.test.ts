// Whose turn it is, who is let in, and when.
import { describe, expect, it } from 'vitest';
import { BATCH_MS, etaMs, letsIn, nextWanted } from '../../../electron/supervisor/swap';

describe('whose turn it is', () => {
  const want = (since: number, explicit = false) => ({ since, explicit });

  it('is by the first who came, whatever else came in between', () => {
    expect(nextWanted([want(5), want(3), want(9)])).toEqual(want(3));
    expect(nextWanted([])).toBeUndefined();
  });

  it('is that of a person who chose a model before requests that need one', () => {
    expect(nextWanted([want(1), want(7, true), want(8, true)])).toEqual(want(7, true));
  });
});

describe('a model that must go', () => {
  it('takes what comes together for a moment, and then no more: nobody starves', () => {
    const wanted = { since: 1000, explicit: false };
    expect(letsIn(wanted, 1000)).toBe(true);
    expect(letsIn(wanted, 1000 + BATCH_MS - 1)).toBe(true);
    expect(letsIn(wanted, 1000 + BATCH_MS)).toBe(false);
  });
});

describe('the time until the next model', () => {
  it.each([
    ['nothing runs: the load', [], 10, undefined, 2000],
    ['a bounded answer', [{ tokens: 50, maxTokens: 100 }], 10, undefined, 7000],
    [
      'the slowest of two',
      [
        { tokens: 50, maxTokens: 100 },
        { tokens: 0, maxTokens: 20 },
      ],
      10,
      undefined,
      7000,
    ],
    ['as long as answers usually are', [{ tokens: 50, maxTokens: undefined }], 10, 150, 12_000],
    ['longer than usual: half way', [{ tokens: 300, maxTokens: undefined }], 10, 150, 32_000],
    ['no speed yet: unknown', [{ tokens: 0, maxTokens: 10 }], 0, undefined, undefined],
  ] as [string, { tokens: number; maxTokens: number | undefined }[], number, number | undefined, number | undefined][])(
    '%s',
    (_, answers, tps, usual, expected) => expect(etaMs(answers, tps, usual, 2000)).toBe(expected),
  );
});
