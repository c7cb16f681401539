// Finds the names of special tokens in text: leftmost, then longest. Linear in the text for any set of names.
// Only text that the model's own template wrote may be searched for control tokens.
import type { TokenId } from './vocabulary';

interface Node {
  children: Map<number, Node>;
  id: TokenId;
}

export interface SpecialFlags {
  /** White space before or after the token belongs to it. */
  lstrip?: boolean;
  rstrip?: boolean;
}

export class SpecialMatcher {
  private readonly root: Node = { children: new Map(), id: -1 };
  readonly empty: boolean;

  constructor(
    names: Iterable<readonly [string, TokenId]>,
    private readonly flags: ReadonlyMap<TokenId, SpecialFlags> = new Map(),
  ) {
    let count = 0;
    for (const [name, id] of names) {
      let node = this.root;
      for (let i = 0; i < name.length; i++) {
        const code = name.charCodeAt(i);
        let child = node.children.get(code);
        if (!child) node.children.set(code, (child = { children: new Map(), id: -1 }));
        node = child;
      }
      if (node !== this.root) node.id = id;
      count++;
    }
    this.empty = count === 0;
  }

  /** Calls `onText` for the stretches between special tokens (never empty) and `onSpecial` for these, in order. */
  split(text: string, onText: (text: string) => void, onSpecial: (id: TokenId, name: string) => void): void {
    let from = 0;
    for (let at = 0; at < text.length && !this.empty;) {
      const end = this.matchAt(text, at);
      if (end < 0) {
        at++;
        continue;
      }
      const id = this.found;
      const flags = this.flags.get(id);
      const textEnd = flags?.lstrip ? trimmedEnd(text, from, at) : at;
      if (textEnd > from) onText(text.slice(from, textEnd));
      onSpecial(id, text.slice(at, end));
      at = from = flags?.rstrip ? skipSpace(text, end) : end;
    }
    if (from < text.length) onText(from === 0 ? text : text.slice(from));
  }

  /** The first special name in `text` at or after `from`. */
  firstIndex(text: string, from = 0): { start: number; end: number } | null {
    for (let at = from; at < text.length; at++) {
      const end = this.matchAt(text, at);
      if (end >= 0) return { start: at, end };
    }
    return null;
  }

  private found: TokenId = -1;

  /** End of the longest name that starts at `at`, or -1; its id is left in `found`. */
  private matchAt(text: string, at: number): number {
    let node = this.root.children.get(text.charCodeAt(at));
    let end = -1;
    for (let i = at + 1; node; i++) {
      if (node.id >= 0) {
        end = i;
        this.found = node.id;
      }
      if (i >= text.length) break;
      node = node.children.get(text.charCodeAt(i));
    }
    return end;
  }
}

function trimmedEnd(text: string, from: number, end: number): number {
  while (end > from && /\s/.test(text[end - 1]!)) end--;
  return end;
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && /\s/.test(text[at]!)) at++;
  return at;
}
