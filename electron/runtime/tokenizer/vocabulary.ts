// The tokens of a model: their bytes (flat, no object per token), their kind, and the names of the special ones.
// It does not encode; it answers questions about ids.
import { bytesToAlphabet, byteOfCode } from './byte-level';
import { TokenKind } from './source';

export type TokenId = number;

/** How ordinary token strings spell bytes. */
export type Spelling = 'byte-level' | 'sentencepiece';

const encoder = new TextEncoder();
const SPACE_MARK = '\u2581';

export class Vocabulary {
  readonly size: number;
  readonly kinds: Uint8Array;
  private readonly flat: Uint8Array;
  private readonly offsets: Uint32Array;
  private readonly specials = new Map<string, TokenId>();

  /** `tokens`: strings as the file spells them. `kinds`: see TokenKind; missing ones are normal. */
  constructor(tokens: readonly string[], kinds: ArrayLike<number> | undefined, spelling: Spelling) {
    this.size = tokens.length;
    this.kinds = new Uint8Array(tokens.length).fill(TokenKind.normal);
    this.offsets = new Uint32Array(tokens.length + 1);
    let flat = new Uint8Array(tokens.length * 8 + 64);
    let at = 0;
    for (let id = 0; id < tokens.length; id++) {
      const token = tokens[id]!;
      const kind = kindOf(token, kinds?.[id]);
      this.kinds[id] = kind;
      if (kind === TokenKind.control || kind === TokenKind.userDefined) this.specials.set(token, id);
      if (flat.length < at + token.length * 3) {
        const larger = new Uint8Array(flat.length * 2 + token.length * 3);
        larger.set(flat);
        flat = larger;
      }
      at += spell(token, kind, spelling, flat, at);
      this.offsets[id + 1] = at;
    }
    this.flat = flat.slice(0, at);
  }

  /** The bytes that a token stands for; a control token's are its name. Empty for ids outside the vocabulary. Do not write. */
  bytes(id: TokenId): Uint8Array {
    if (this.kinds[id] === undefined) return this.flat.subarray(0, 0);
    return this.flat.subarray(this.offsets[id], this.offsets[id + 1]);
  }

  byteLength(id: TokenId): number {
    return this.kinds[id] === undefined ? 0 : this.offsets[id + 1]! - this.offsets[id]!;
  }

  kind(id: TokenId): number {
    return this.kinds[id] ?? TokenKind.unused;
  }

  isControl(id: TokenId): boolean {
    return this.kinds[id] === TokenKind.control;
  }

  /** The id of a control or user-defined token by its exact name. */
  special(name: string): TokenId | undefined {
    return this.specials.get(name);
  }

  specialNames(kind: number): [string, TokenId][] {
    return [...this.specials].filter(([name, id]) => name !== '' && this.kinds[id] === kind);
  }

  /** Marks further ids as control tokens (end ids that the file gives another kind). */
  markControl(id: TokenId, name: string): void {
    if (this.kinds[id] === undefined) return;
    this.kinds[id] = TokenKind.control;
    this.specials.set(name, id);
  }

  /** Every token's bytes in the byte alphabet; control and unknown tokens as ''. For grammar engines. */
  alphabetStrings(): string[] {
    return Array.from({ length: this.size }, (_, id) => {
      const kind = this.kinds[id];
      const spoken = kind === TokenKind.normal || kind === TokenKind.userDefined || kind === TokenKind.byte;
      return spoken ? bytesToAlphabet(this.bytes(id)) : '';
    });
  }
}

/** A user-defined token that looks like markup is control: text of users must never become it. */
function kindOf(token: string, kind: number | undefined): number {
  if (kind === undefined || kind < 1 || kind > 6) return TokenKind.normal;
  if (kind === TokenKind.userDefined && /^<[|\uff5c].*[|\uff5c]>$/su.test(token)) return TokenKind.control;
  return kind;
}

/** Writes a token's bytes at `at` and returns how many. */
function spell(token: string, kind: number, spelling: Spelling, out: Uint8Array, at: number): number {
  if (kind === TokenKind.byte) {
    const match = /^<0x([0-9A-Fa-f]{2})>$/.exec(token);
    if (match) {
      out[at] = parseInt(match[1]!, 16);
      return 1;
    }
  }
  const raw = kind === TokenKind.control || kind === TokenKind.userDefined || kind === TokenKind.unknown;
  if (!raw && spelling === 'byte-level') return spellByteLevel(token, out, at);
  const text = spelling === 'sentencepiece' && !raw ? token.replaceAll(SPACE_MARK, ' ') : token;
  return encoder.encodeInto(text, out.subarray(at)).written;
}

function spellByteLevel(token: string, out: Uint8Array, at: number): number {
  for (let i = 0; i < token.length; i++) {
    const byte = byteOfCode(token.charCodeAt(i));
    // not of the alphabet at all: the file means the text itself
    if (byte < 0) return encoder.encodeInto(token, out.subarray(at)).written;
    out[at + i] = byte;
  }
  return token.length;
}
