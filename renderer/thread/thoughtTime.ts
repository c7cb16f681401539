// How long a stored answer was thought about, from its share of the tokens. Pure.
import type { Message } from '@contract/own';

/** Milliseconds; undefined where the numbers are missing. */
export function thoughtMsOf({ usage, timings }: Message): number | undefined {
  if (!usage || !timings || usage.completionTokens <= 0) return undefined;
  return timings.decodeMs * Math.min(1, usage.reasoningTokens / usage.completionTokens);
}
