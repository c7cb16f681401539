// The small committed vocabulary (test/fixtures/tokenizer/small.json) as a tokenizer, with harmony's control tokens.
import { readFileSync } from 'node:fs';
import { harmonyTokens, type HarmonyTokens } from '../../../electron/runtime/harmony';
import { createTokenizer, type Tokenizer, type TokenizerSource } from '../../../electron/runtime/tokenizer';

export const smallSource = JSON.parse(
  readFileSync(new URL('../../fixtures/tokenizer/small.json', import.meta.url), 'utf8'),
) as TokenizerSource;

export const tokenizer: Tokenizer = createTokenizer(smallSource);
export const control: HarmonyTokens = harmonyTokens(tokenizer)!;
