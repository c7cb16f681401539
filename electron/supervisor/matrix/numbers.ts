// The numbers of a check: tokens as a hash, two lists of hashes against each other, and how far two distributions lie apart. Pure.
import { createHash } from 'node:crypto';
import type { SelfCheck } from '../../contract/models';

/** SHA-256 over the tokens as little-endian 32-bit integers. */
export function tokensHash(tokens: readonly number[]): string {
  const bytes = Buffer.alloc(tokens.length * 4);
  tokens.forEach((token, i) => bytes.writeUInt32LE(token, i * 4));
  return createHash('sha256').update(bytes).digest('hex');
}

export type Hashes = Readonly<Record<string, string>>;

/** Prompts whose answers are not the same. */
export function differing(one: Hashes, two: Hashes): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(two)])].filter((prompt) => one[prompt] !== two[prompt]);
}

/**
 * `alone` and `together`: the same prompts one by one and all at once, which must not matter. Without `expected` there is nothing
 * that could have changed.
 */
export function judge(alone: Hashes, together: Hashes, expected: Hashes | undefined): SelfCheck {
  if (differing(alone, together).length > 0) return 'failed';
  return expected && differing(alone, expected).length > 0 ? 'changed' : 'passed';
}

/** log(sum(exp(logits))), kept from overflowing by the largest one. */
function logSum(logits: readonly number[]): number {
  let most = -Infinity;
  for (const logit of logits) most = Math.max(most, logit);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - most);
  return most + Math.log(sum);
}

/** KL(exact || fast) in nats of the distributions that two lists of logits stand for. Infinity: fast excludes what exact allows. */
export function klDivergence(exact: readonly number[], fast: readonly number[]): number {
  if (exact.length !== fast.length) throw new RangeError(`${exact.length} logits against ${fast.length}`);
  const [p, q] = [logSum(exact), logSum(fast)];
  let sum = 0;
  for (let i = 0; i < exact.length; i++) {
    const logP = (exact[i] ?? 0) - p;
    if (logP > -Infinity) sum += Math.exp(logP) * (logP - ((fast[i] ?? 0) - q));
  }
  return Math.max(0, sum);
}
