// Harmony's control tokens, found in a vocabulary by name. A model speaks harmony if it has them; its own name does not matter.
import type { TokenId, Tokenizer } from '../tokenizer';

/** gpt-oss: start 200006, end 200007, message 200008, channel 200005, constrain 200003, return 200002, call 200012. */
export const CONTROL_NAMES = {
  start: '<|start|>',
  end: '<|end|>',
  message: '<|message|>',
  channel: '<|channel|>',
  constrain: '<|constrain|>',
  return: '<|return|>',
  call: '<|call|>',
} as const;

export type Control = keyof typeof CONTROL_NAMES;
export type HarmonyTokens = Readonly<Record<Control, TokenId>> & {
  /** `<|endoftext|>` and the file's own end ids: the model will say nothing more. */
  readonly ends: readonly TokenId[];
};

/** The control tokens of a harmony vocabulary, or null for another model. */
export function harmonyTokens(tokenizer: Tokenizer): HarmonyTokens | null {
  const ids: Partial<Record<Control, TokenId>> = {};
  for (const [control, name] of Object.entries(CONTROL_NAMES) as [Control, string][]) {
    const id = tokenizer.special(name);
    if (id === undefined || !tokenizer.isControl(id)) return null;
    ids[control] = id;
  }
  const known = new Set(Object.values(ids));
  const endOfText = tokenizer.special('<|endoftext|>');
  const ends = [...tokenizer.endIds, ...(endOfText === undefined ? [] : [endOfText])].filter((id) => !known.has(id));
  return { ...(ids as Record<Control, TokenId>), ends: [...new Set(ends)] };
}

/**
 * Where sampling ends: `<|return|>`, `<|call|>`, and the end of text for safety. Never `<|end|>`, after which the model goes
 * on with its next message, even where the file lists it among its end ids.
 */
export function stopTokens(tokens: HarmonyTokens): TokenId[] {
  return [tokens.return, tokens.call, ...tokens.ends];
}
