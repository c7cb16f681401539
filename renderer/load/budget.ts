// The memory that a load would take, as the parts of one bar, and what another length of conversation would make of it. Pure.
import type { Fit, LoadChoice } from '@contract/models';

export const PARTS = ['other', 'weights', 'conversation', 'working', 'free'] as const;
export type PartName = (typeof PARTS)[number];

export interface Part {
  name: PartName;
  bytes: number;
  /** Of the bar: where it begins and how long it is, 0..1. */
  from: number;
  share: number;
}

export interface Budget {
  parts: Part[];
  /** Where the memory of this computer ends on the bar; below 1 only where more is wanted than there is. */
  end: number;
}

export function budgetOf(fit: Fit): Budget {
  const { otherBytes: other, weightBytes: weights, kvBytes: conversation, scratchBytes: working } = fit;
  const wanted = other + weights + conversation + working;
  const whole = Math.max(fit.totalBytes, wanted, 1);
  const sizes: Record<PartName, number> = { other, weights, conversation, working, free: fit.totalBytes - wanted };
  let from = 0;
  const parts = PARTS.filter((name) => sizes[name] > 0).map((name) => {
    const share = sizes[name] / whole;
    const part = { name, bytes: sizes[name], from, share };
    from += share;
    return part;
  });
  return { parts, end: fit.totalBytes / whole };
}

/** Bytes of conversation per token, from two plans of one kind of memory, else from the one. */
function bytesPerToken(choice: LoadChoice, others: readonly LoadChoice[]): { base: number; slope: number } {
  const second = others.find((other) => other.kvType === choice.kvType && other.context !== choice.context);
  if (!second) return { base: 0, slope: choice.context > 0 ? choice.fit.kvBytes / choice.context : 0 };
  const slope = (choice.fit.kvBytes - second.fit.kvBytes) / (choice.context - second.context);
  return { base: choice.fit.kvBytes - slope * choice.context, slope };
}

/** The choice with another context: what it would take, by the same rate. The server's own answer comes with the load. */
export function withContext(choice: LoadChoice, others: readonly LoadChoice[], context: number): LoadChoice {
  if (context === choice.context) return choice;
  const { base, slope } = bytesPerToken(choice, others);
  const kvBytes = Math.max(0, base + slope * context);
  const spareBytes = choice.fit.spareBytes - (kvBytes - choice.fit.kvBytes);
  return {
    ...choice,
    context,
    fit: { ...choice.fit, context, kvBytes, spareBytes, verdict: verdictOf(choice.fit, spareBytes) },
  };
}

/** As the server judged the choice; only the border to "too big" is certain without it. */
function verdictOf({ verdict }: Fit, spareBytes: number): Fit['verdict'] {
  if (verdict === 'unknown') return verdict;
  if (spareBytes < 0) return 'too_big';
  return verdict === 'too_big' ? 'tight' : verdict;
}
