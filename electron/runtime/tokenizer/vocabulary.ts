// The tokens of a model: their bytes (flat, no object per token), their kind, and the names of the special ones.
// It does not encode; it answers questions about ids.
import { bytesToAlphabet, byteOfCode } from './byte-level';
import { startOf, textAt, type FlatTexts } from './flat-texts';
import { TokenKind } from './source';

export type TokenId = number;

/** How ordinary token strings spell bytes. */
export type Spelling = 'byte-level' | 'sentencepiece';

/** U+2581, which stands for a space, in UTF-8. */
const SPACE_MARK = [0xe2, 0x96, 0x81] as const;

export class Vocabulary {
  readonly size: number;
  readonly kinds: Uint8Array;
  private readonly flat: Uint8Array;
  private readonly offsets: Uint32Array;
  private readonly specials = new Map<string, TokenId>();

  /** `tokens`: as the file spells them. `kinds`: see TokenKind; missing ones are normal. */
  constructor(tokens: FlatTexts, kinds: ArrayLike<number> | undefined, spelling: Spelling) {
    this.size = tokens.ends.length;
    this.kinds = new Uint8Array(this.size);
    this.offsets = new Uint32Array(this.size + 1);
    const flat = new Uint8Array(tokens.bytes.length); // no token has more bytes than its spelling
    let at = 0;
    for (let id = 0; id < this.size; id++) {
      const kind = (this.kinds[id] = kindOf(tokens, id, kinds?.[id]));
      if (kind === TokenKind.control || kind === TokenKind.userDefined) this.specials.set(textAt(tokens, id), id);
      at += spell(tokens, id, kind, spelling, flat, at);
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
function kindOf(tokens: FlatTexts, id: TokenId, kind: number | undefined): number {
  if (kind === undefined || kind < 1 || kind > 6) return TokenKind.normal;
  const markup = kind === TokenKind.userDefined && /^<[|\uff5c].*[|\uff5c]>$/su.test(textAt(tokens, id));
  return markup ? TokenKind.control : kind;
}

/** Writes a token's bytes at `at` and returns how many. */
function spell(tokens: FlatTexts, id: TokenId, kind: number, spelling: Spelling, out: Uint8Array, at: number): number {
  const [from, to] = [startOf(tokens, id), tokens.ends[id]!];
  if (kind === TokenKind.byte) {
    const match = /^<0x([0-9A-Fa-f]{2})>$/.exec(textAt(tokens, id));
    if (match) {
      out[at] = parseInt(match[1]!, 16);
      return 1;
    }
  }
  const raw = kind === TokenKind.control || kind === TokenKind.userDefined || kind === TokenKind.unknown;
  if (raw) return copy(tokens.bytes, from, to, out, at);
  if (spelling === 'sentencepiece') return spellMarks(tokens.bytes, from, to, out, at);
  return spellByteLevel(tokens.bytes, from, to, out, at);
}

function copy(bytes: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  for (let i = from; i < to; i++) out[at + i - from] = bytes[i]!;
  return to - from;
}

function spellMarks(bytes: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  let length = 0;
  for (let i = from; i < to; i++) {
    const mark = i + 2 < to && SPACE_MARK.every((byte, k) => bytes[i + k] === byte);
    out[at + length++] = mark ? 0x20 : bytes[i]!;
    if (mark) i += 2;
  }
  return length;
}

/** Characters of the byte alphabet have one or two bytes in UTF-8. */
function spellByteLevel(bytes: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  let length = 0;
  for (let i = from; i < to; i++) {
    const first = bytes[i]!;
    const code = first < 0x80 ? first : twoBytes(first, bytes[++i], i < to);
    const byte = byteOfCode(code);
    // not of the alphabet at all: the file means the text itself
    if (byte < 0) return copy(bytes, from, to, out, at);
    out[at + length++] = byte;
  }
  return length;
}

/** The code of a character of two bytes; beyond the alphabet where it is none. */
function twoBytes(first: number, second: number | undefined, there: boolean): number {
  const sound = there && second !== undefined && (first & 0xe0) === 0xc0 && (second & 0xc0) === 0x80;
  return sound ? ((first & 0x1f) << 6) | (second & 0x3f) : 0xffff;
}
