// Keeps text of users and tools from forging control tokens through a template: their names are broken with a mark that the
// template passes on and the tokenizer takes out again, after the template's own control tokens have been found.
import type { Tokenizer } from '../tokenizer';

export class Protector {
  private readonly prefixes = new Set<string>();
  private readonly suffixes = new Set<string>();
  private readonly longest: number;

  constructor(private readonly tokenizer: Tokenizer) {
    let longest = 0;
    for (const name of tokenizer.controlNames()) {
      longest = Math.max(longest, name.length);
      for (let i = 1; i < name.length; i++) {
        this.prefixes.add(name.slice(0, i));
        this.suffixes.add(name.slice(i));
      }
    }
    this.longest = longest;
  }

  /** A mark that occurs in none of the texts. */
  mark(texts: readonly string[]): string {
    for (let n = 0; ; n++) {
      const mark = `\ue000${n}\ue001`;
      if (!texts.some((text) => text.includes(mark))) return mark;
    }
  }

  /**
   * The text with the mark inside every control token's name in it, and at its ends where it could complete a name together
   * with what the template puts beside it. Other text is unchanged, so that templates that look into it see what they expect.
   */
  protect(text: string, mark: string): string {
    let out = '';
    let from = 0;
    for (let hit = this.tokenizer.findControl(text); hit; hit = this.tokenizer.findControl(text, hit.start + 1)) {
      out += text.slice(from, hit.start + 1) + mark;
      from = hit.start + 1;
    }
    out += text.slice(from);
    if (this.couldBegin(text)) out += mark;
    return this.couldEnd(text) ? mark + out : out;
  }

  private couldBegin(text: string): boolean {
    for (let n = Math.min(this.longest, text.length); n > 0; n--) if (this.prefixes.has(text.slice(-n))) return true;
    return false;
  }

  private couldEnd(text: string): boolean {
    for (let n = Math.min(this.longest, text.length); n > 0; n--) if (this.suffixes.has(text.slice(0, n))) return true;
    return false;
  }
}

/** The value with `change` applied to every string in it, keys of objects included. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((v) => mapStrings(v, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [change(k), mapStrings(v, change)]));
}
