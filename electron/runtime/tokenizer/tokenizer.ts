// A model's tokenizer: text to ids and back. Plain text never becomes a control token; only encodeTrusted() looks for their names.
// It reads no file and knows no chat format.
import { SpecialMatcher, type SpecialFlags } from './special-matcher';
import { TokenKind } from './source';
import { StreamDecoder } from './stream-decoder';
import type { TokenId, Vocabulary } from './vocabulary';

/** Plain text to ids. `first`: the text stands at the beginning or after a special token (SentencePiece puts a space there). */
export interface TextModel {
  encode(text: string, out: TokenId[], first: boolean): void;
}

/** A stretch of a prompt: `trusted` text comes from the model's template and may name control tokens. */
export interface Run {
  text: string;
  trusted: boolean;
}

export interface TokenizerParts {
  vocabulary: Vocabulary;
  /** Called when text is first encoded: who only reads tokens does without. */
  model: () => TextModel;
  normalise?: (text: string) => string;
  flags?: ReadonlyMap<TokenId, SpecialFlags>;
  bos: TokenId;
  eos: TokenId;
  eosIds: readonly TokenId[];
  addBos: boolean;
  addEos: boolean;
  chatTemplate: string;
}

export class Tokenizer {
  readonly vocabulary: Vocabulary;
  /** Ids; -1 where the model has none. */
  readonly bos: TokenId;
  readonly eos: TokenId;
  /** Every id that ends an answer, `eos` included. */
  readonly endIds: readonly TokenId[];
  readonly addBos: boolean;
  readonly addEos: boolean;
  readonly chatTemplate: string;
  private readonly makeModel: () => TextModel;
  private made: TextModel | undefined;
  private readonly normalise: (text: string) => string;
  private readonly userDefined: SpecialMatcher;
  private readonly controls: SpecialMatcher;
  private readonly allSpecials: SpecialMatcher;

  constructor(parts: TokenizerParts) {
    const { vocabulary } = parts;
    this.vocabulary = vocabulary;
    const known = (id: TokenId) => Number.isInteger(id) && id >= 0 && id < vocabulary.size;
    this.bos = known(parts.bos) ? parts.bos : -1;
    this.eos = known(parts.eos) ? parts.eos : -1;
    this.endIds = [...new Set([parts.eos, ...parts.eosIds])].filter(known);
    this.addBos = parts.addBos && this.bos >= 0;
    this.addEos = parts.addEos;
    this.chatTemplate = parts.chatTemplate;
    this.makeModel = parts.model;
    this.normalise = parts.normalise ?? ((text) => text);
    const user = vocabulary.specialNames(TokenKind.userDefined);
    this.userDefined = new SpecialMatcher(user, parts.flags);
    const control = vocabulary.specialNames(TokenKind.control);
    this.controls = new SpecialMatcher(control);
    this.allSpecials = new SpecialMatcher([...control, ...user], parts.flags);
  }

  /** Number of tokens that have text; the model's logits may be wider. */
  get size(): number {
    return this.vocabulary.size;
  }

  /** Ids of plain text. Never a control token, whatever the text says. No BOS. `first`: see TextModel. */
  encode(text: string, first = true): TokenId[] {
    const out: TokenId[] = [];
    this.encodePlain(text, out, first);
    return out;
  }

  /**
   * Ids of text that the model's own template wrote: names of control tokens in it become these. No BOS.
   * `erase` is taken out of the plain text after control tokens have been found: set inside a name, it hides that name.
   */
  encodeTrusted(text: string, erase = ''): TokenId[] {
    return this.encodeRuns([{ text, trusted: true }], erase);
  }

  /** Ids of mixed text. Plain stretches that touch are encoded as one text, as the training data was. */
  encodeRuns(runs: readonly Run[], erase = ''): TokenId[] {
    const out: TokenId[] = [];
    let plain = '';
    const flush = () => {
      if (erase) plain = plain.replaceAll(erase, '');
      if (plain) this.encodePlain(plain, out, true);
      plain = '';
    };
    for (const { text, trusted } of runs) {
      if (!trusted) {
        plain += text;
        continue;
      }
      const onSpecial = (id: TokenId) => {
        flush();
        out.push(id);
      };
      this.allSpecials.split(text, (stretch) => (plain += stretch), onSpecial);
    }
    flush();
    return out;
  }

  /** Where a control token's name first stands in `text`. */
  findControl(text: string, from = 0): { start: number; end: number } | null {
    return this.controls.firstIndex(text, from);
  }

  controlNames(): string[] {
    return this.vocabulary.specialNames(TokenKind.control).map(([name]) => name);
  }

  /** The bytes of a token; control tokens give their name. Do not write to it. */
  bytes(id: TokenId): Uint8Array {
    return this.vocabulary.bytes(id);
  }

  isControl(id: TokenId): boolean {
    return this.vocabulary.isControl(id);
  }

  /** The id of a control or user-defined token by its exact name. */
  special(name: string): TokenId | undefined {
    return this.vocabulary.special(name);
  }

  /** Text of ids. `control`: whether control tokens are written by name or left out. Invalid bytes become U+FFFD. */
  decode(ids: Iterable<TokenId>, options: { control?: boolean } = {}): string {
    const stream = new StreamDecoder();
    let text = '';
    for (const id of ids) {
      if (this.isControl(id)) text += stream.end() + (options.control ? stream.push(this.bytes(id)) : '');
      else text += stream.push(this.bytes(id));
    }
    return text + stream.end();
  }

  private get model(): TextModel {
    return (this.made ??= this.makeModel());
  }

  private encodePlain(text: string, out: TokenId[], first: boolean): void {
    if (this.userDefined.empty) {
      this.model.encode(this.normalise(text), out, first);
      return;
    }
    const onText = (stretch: string) => this.model.encode(this.normalise(stretch), out, first);
    const onSpecial = (id: TokenId) => out.push(id);
    this.userDefined.split(text, onText, onSpecial);
  }
}
