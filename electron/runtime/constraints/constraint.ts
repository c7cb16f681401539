// What a constraint offers to the generation loop, and the part that all of them share: a body that follows a grammar.
import type { TokenId } from '../tokenizer';
import type { Matcher } from './grammar';
import { addToken, emptySet, hasToken, isEmpty, removeToken, setOf } from './token-set';
import { utf8Pending } from './utf8';

export interface Constraint {
  /** Bits of the tokens that may come next; null: any. Never empty before the end. Do not write to it. */
  mask(): Uint32Array | null;
  /** Every token, in order, forced and replayed ones too. False: it was not allowed; the constraint then only waits for the end. */
  accept(token: TokenId): boolean;
  /** Nothing may follow. */
  isDone(): boolean;
  /** Tokens that must come next, where there is no choice; else []. They are still to be accepted one by one. */
  force(): TokenId[];
  /** Ends the thoughts: the tokens to force from inside a thought. [] elsewhere. No further thought is allowed afterwards. */
  endThoughts(): TokenId[];
  /** Frees the grammar's memory. */
  dispose(): void;
}

/** The tokens of a model as constraints see them. */
export interface TextTokens {
  /** The width of a mask in tokens. */
  size: number;
  /** Those that stand for text. */
  text: Uint32Array;
  /** Those of them that are no whole characters. */
  fragments: readonly TokenId[];
  bytes(token: TokenId): Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** The constrained part of an output, from its first token to the one that ends it. Always valid UTF-8. */
export class Body {
  private done = false;
  private stuck = false;
  /** The bytes of a character that is not complete. */
  private pending: Uint8Array = NOTHING;

  /** `stop`: the grammar's stop token; `end`: the token that really ends this body. */
  constructor(
    private readonly matcher: Matcher,
    private readonly tokens: TextTokens,
    private readonly stop: TokenId,
    private readonly end: TokenId,
  ) {}

  get isDone(): boolean {
    return this.done;
  }

  mask(): Uint32Array {
    const { size, text, fragments } = this.tokens;
    if (this.done) return emptySet(size);
    if (this.stuck) return setOf(size, [this.end]);
    const mask = this.matcher.mask();
    const mayEnd = hasToken(mask, this.stop);
    removeToken(mask, this.stop);
    for (let i = 0; i < mask.length; i++) mask[i]! &= text[i]!;
    for (const token of fragments) {
      if (hasToken(mask, token) && utf8Pending(this.joined(token)) < 0) removeToken(mask, token);
    }
    // a grammar with no way on: better an end than an empty mask
    if (mayEnd || isEmpty(mask)) addToken(mask, this.end);
    return mask;
  }

  accept(token: TokenId): boolean {
    if (this.done) return false;
    if (token === this.end) {
      const complete = !this.stuck && this.matcher.accept(this.stop);
      this.done = true;
      return complete;
    }
    const bytes = this.joined(token);
    const pending = utf8Pending(bytes);
    if (this.stuck || pending < 0 || !hasToken(this.tokens.text, token) || !this.matcher.accept(token)) {
      this.stuck = true;
      return false;
    }
    this.pending = bytes.slice(bytes.length - pending);
    return true;
  }

  dispose(): void {
    this.matcher.dispose();
  }

  private joined(token: TokenId): Uint8Array {
    const bytes = this.tokens.bytes(token);
    if (this.pending.length === 0) return bytes;
    const all = new Uint8Array(this.pending.length + bytes.length);
    all.set(this.pending);
    all.set(bytes, this.pending.length);
    return all;
  }
}
