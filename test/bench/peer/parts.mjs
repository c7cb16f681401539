// What is compared, as both sides must do it: the parts, their prompts and how a rate comes from the times of tokens. It runs nothing.

/** `tokens`: prompt of each sequence; `write`: tokens that each sequence writes; the unit tells which way is better. */
export const PARTS = {
  load: { title: 'load to first token', unit: 's' },
  prefill128: { title: 'prefill of 128 tokens', unit: 'tokens/s', tokens: 128, write: 1, sequences: 1 },
  prefill512: { title: 'prefill of 512 tokens', unit: 'tokens/s', tokens: 512, write: 1, sequences: 1 },
  prefill2048: { title: 'prefill of 2048 tokens', unit: 'tokens/s', tokens: 2048, write: 1, sequences: 1 },
  decode: { title: 'decode', unit: 'tokens/s', tokens: 32, write: 64, sequences: 1 },
  batch8: { title: '8 sequences together, decode', unit: 'tokens/s', tokens: 32, write: 48, sequences: 8 },
  memory: { title: 'peak anonymous memory', unit: 'MB' },
};
/** Memory is sampled in every run. */
export const SELECTABLE = Object.keys(PARTS).filter((name) => name !== 'memory');

/** The first answer after the load: its first token ends `load`, the rest warms up what the parts measure. */
export const FIRST = { tokens: 16, write: 4, sequences: 1 };

/** Token ids from the whole vocabulary: the same on both sides, different in every part, sequence and run, so that no cache helps. */
export function prompts({ tokens, sequences }, vocabulary, salt) {
  let state = 2166136261;
  for (const char of salt) state = Math.imul(state ^ char.charCodeAt(0), 16777619) >>> 0;
  const draw = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * vocabulary);
  };
  return Array.from({ length: sequences }, () => Array.from({ length: tokens }, draw));
}

/**
 * Tokens per second. Prefill: the prompt over the time to the first token. Decode: tokens after every sequence has begun, over the
 * time from there to the last one.
 */
export function rate(part, begun, times) {
  for (const own of times) {
    if (own.length < part.write) throw new Error(`a sequence ended after ${own.length} of ${part.write} tokens`);
  }
  const allBegun = Math.max(...times.map((own) => own[0]));
  if (part.write === 1) return (part.tokens * part.sequences * 1000) / (allBegun - begun);
  const later = times.flat().filter((at) => at > allBegun);
  return (later.length * 1000) / (Math.max(...later) - allBegun);
}
