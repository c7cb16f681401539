// The numbers of a check against values worked out by hand.
import { describe, expect, it } from 'vitest';
import { judge, klDivergence, tokensHash } from '../../../../electron/supervisor/matrix/numbers';

describe('hashes', () => {
  it('depend on every token and on their order', () => {
    // printf '\x01\0\0\0\x00\x02\0\0' | sha256sum
    expect(tokensHash([1, 512])).toBe('99fb3cc3089a84cd7dab716e7c722ec621ec4be866133d6c685b03d9aa660786');
    expect(tokensHash([512, 1])).not.toBe(tokensHash([1, 512]));
    expect(tokensHash([1])).not.toBe(tokensHash([1, 0]));
  });

  it.each([
    ['as expected', { a: '1' }, { a: '1' }, { a: '1' }, 'passed'],
    ['the first time', { a: '1' }, { a: '1' }, undefined, 'passed'],
    ['changed', { a: '1' }, { a: '1' }, { a: '2' }, 'changed'],
    ['a prompt more', { a: '1', b: '1' }, { a: '1', b: '1' }, { a: '1' }, 'changed'],
    ['not the same in company', { a: '1' }, { a: '2' }, { a: '1' }, 'failed'],
  ])('%s', (_name, alone, together, expected, result) => expect(judge(alone, together, expected)).toBe(result));
});

describe('KL', () => {
  it.each([
    ['itself', [1, 2, 3], [1, 2, 3], 0],
    ['the same, shifted', [1, 2, 3], [101, 102, 103], 0],
    // p = (3/4, 1/4), q = (1/2, 1/2): 3/4 ln(3/2) + 1/4 ln(1/2)
    ['by hand', [Math.log(3), 0], [0, 0], 0.75 * Math.log(1.5) + 0.25 * Math.log(0.5)],
    ['without overflow', [10_000, 0], [10_000, 0], 0],
    ['what exact excludes does not count', [0, -Infinity], [0, 0], Math.log(2)],
    ['what fast excludes is infinitely far', [0, 0], [0, -Infinity], Infinity],
  ])('%s', (_name, exact, fast, expected) => {
    const kl = klDivergence(exact, fast);
    if (Number.isFinite(expected)) expect(kl).toBeCloseTo(expected, 12);
    else expect(kl).toBe(expected);
  });

  it('lists of two lengths are no distributions of one vocabulary', () => {
    expect(() => klDivergence([1], [1, 2])).toThrow(RangeError);
  });
});
