// Sets of tokens as bits over the vocabulary, the engine's shape of a mask: word t/32, bit t%32.
import { TokenKind, type TokenId, type Tokenizer } from '../tokenizer';
import type { TextTokens } from './constraint';
import { utf8Pending } from './utf8';

export function emptySet(size: number): Uint32Array {
  return new Uint32Array(Math.ceil(size / 32));
}

export function addToken(set: Uint32Array, token: TokenId): void {
  set[token >>> 5]! |= 1 << (token & 31);
}

export function hasToken(set: Uint32Array, token: TokenId): boolean {
  return token >= 0 && ((set[token >>> 5] ?? 0) & (1 << (token & 31))) !== 0;
}

export function removeToken(set: Uint32Array, token: TokenId): void {
  set[token >>> 5]! &= ~(1 << (token & 31));
}

export function isEmpty(set: Uint32Array): boolean {
  return set.every((word) => word === 0);
}

export function setOf(size: number, tokens: Iterable<TokenId>): Uint32Array {
  const set = emptySet(size);
  for (const token of tokens) addToken(set, token);
  return set;
}

/** See TextTokens: control, unknown and unused tokens are not among them. */
export function textTokens(tokenizer: Tokenizer, size: number): TextTokens {
  const text = emptySet(size);
  const fragments: TokenId[] = [];
  const { vocabulary } = tokenizer;
  for (let id = 0; id < Math.min(size, tokenizer.size); id++) {
    const kind = vocabulary.kind(id);
    const spoken = kind === TokenKind.normal || kind === TokenKind.userDefined || kind === TokenKind.byte;
    if (!spoken || vocabulary.byteLength(id) === 0) continue;
    addToken(text, id);
    if (utf8Pending(vocabulary.bytes(id)) !== 0) fragments.push(id);
  }
  return { size, text, fragments, bytes: (id) => vocabulary.bytes(id) };
}
