// Cuts a growing Markdown text into blocks that never change once two more have begun, so that finished ones are never drawn again.
// Knows marked's block rules and nothing about drawing. One splitter belongs to one text.
import { type Token, Lexer, Marked } from 'marked';

export interface Block {
  /** Offset in the text: stable while the text grows. */
  at: number;
  kind: 'markdown' | 'code' | 'math' | 'plain';
  raw: string;
  /** Code and formulas: what stands between the marks. */
  body: string;
  language: string;
  /** False: the closing mark has not come yet. */
  closed: boolean;
}

/** Paragraphs longer than this are shown as they are: no person wrote such a thing to be formatted. */
const PLAIN_OVER = 12_000;
const UNFROZEN = 2;

const OPEN_MATH = /^ {0,3}(\$\$|\\\[)/;
const CLOSED_MATH = /^ {0,3}(?:\$\$((?:(?!\n\s*\n)[\s\S])+?)\$\$|\\\[([\s\S]+?)\\\])[^\S\n]*(?:\n|$)/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

interface MathToken {
  type: 'mathBlock';
  raw: string;
  body: string;
  closed: boolean;
}

function lexerFor(growing: boolean): Lexer {
  const marked = new Marked();
  marked.use({
    gfm: true,
    extensions: [
      {
        name: 'mathBlock',
        level: 'block',
        start: (src: string) => /(?:^|\n) {0,3}(?:\$\$|\\\[)/.exec(src)?.index,
        tokenizer: (src: string): MathToken | undefined => {
          const closed = CLOSED_MATH.exec(src);
          if (closed) {
            return { type: 'mathBlock', raw: closed[0], body: (closed[1] ?? closed[2] ?? '').trim(), closed: true };
          }
          // A formula that is still being written; one that stays open becomes text when the answer ends.
          const open = growing && src.length < 4000 ? OPEN_MATH.exec(src) : null;
          if (!open || /\n\s*\n/.test(src)) return undefined;
          return { type: 'mathBlock', raw: src, body: src.slice(open[0].length).trim(), closed: false };
        },
      },
    ],
  });
  return new Lexer(marked.defaults);
}

export class BlockSplitter {
  #text = '';
  #growing = true;
  #frozen: Block[] = [];
  #frozenLength = 0;
  #last: Block[] = [];

  /** `growing`: more text may come. Returns the same block objects for what has not changed. */
  update(text: string, growing: boolean): Block[] {
    if (text === this.#text && growing === this.#growing) return this.#last;
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    this.#growing = growing;
    const shown = growing ? withoutDoubtfulEnd(text) : text;
    if (!growing && hasReferences(text)) return this.#keep([whole(text)]);
    const tail = this.#cut(shown.slice(this.#frozenLength), this.#frozenLength, growing);
    const settled = growing ? Math.max(0, tail.length - UNFROZEN) : tail.length;
    const result = [...this.#frozen, ...tail.map((block) => this.#same(block))];
    if (growing) this.#freeze(result, this.#frozen.length + settled);
    return this.#keep(result);
  }

  #keep(blocks: Block[]): Block[] {
    this.#last = blocks;
    return blocks;
  }

  #freeze(blocks: Block[], count: number): void {
    if (count <= this.#frozen.length) return;
    this.#frozen = blocks.slice(0, count);
    this.#frozenLength = blocks[count]?.at ?? this.#frozenLength;
  }

  #reset(): void {
    this.#frozen = [];
    this.#frozenLength = 0;
    this.#last = [];
  }

  #same(block: Block): Block {
    const old = this.#last.find((candidate) => candidate.at === block.at);
    const equal = old && old.raw === block.raw && old.kind === block.kind && old.closed === block.closed;
    return equal ? old : block;
  }

  #cut(text: string, offset: number, growing: boolean): Block[] {
    const blocks: Block[] = [];
    let at = offset;
    for (const token of lexerFor(growing).blockTokens(text.replaceAll('\r', ' '), [])) {
      if (token.type !== 'space') blocks.push(toBlock(token, at));
      at += token.raw.length;
    }
    return blocks;
  }
}

function toBlock(token: Token, at: number): Block {
  const base = { at, raw: token.raw, body: '', language: '', closed: true };
  if (token.type === 'code') {
    const fence = FENCE.exec(token.raw)?.[1];
    const language = (('lang' in token && typeof token.lang === 'string' && token.lang) || '').split(/[\s,{]/)[0] ?? '';
    const body = 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
    return { ...base, kind: 'code', body, language, closed: fence ? endsWithFence(token.raw, fence) : true };
  }
  if (token.type === 'mathBlock') {
    const math = token as unknown as MathToken;
    return { ...base, kind: 'math', body: math.body, closed: math.closed };
  }
  if (token.raw.length > PLAIN_OVER && token.type !== 'list' && token.type !== 'table')
    return { ...base, kind: 'plain' };
  return { ...base, kind: 'markdown' };
}

function endsWithFence(raw: string, fence: string): boolean {
  const trimmed = raw.trimEnd();
  const lastLine = trimmed.slice(trimmed.lastIndexOf('\n') + 1).trim();
  return (
    trimmed.includes('\n') &&
    lastLine.length >= fence.length &&
    /^(`+|~+)$/.test(lastLine) &&
    lastLine.startsWith(fence)
  );
}

/** Links and footnotes defined elsewhere in the text need the whole of it. */
function hasReferences(text: string): boolean {
  return text.length < 100_000 && /^ {0,3}\[[^\]\n]+\]:\s*\S/m.test(text);
}

const whole = (text: string): Block => ({ at: 0, kind: 'markdown', raw: text, body: '', language: '', closed: true });

/** A last line of nothing but marks may yet become a heading, a rule, a list or a fence: it is shown with its next character. */
export function withoutDoubtfulEnd(text: string): string {
  const line = text.slice(text.lastIndexOf('\n') + 1);
  if (line.length > 12 || !/^\s*(?:[-=*_~`#>+|:\s]+|\d{1,3}[.)]?\s*)$/.test(line)) return text;
  return text.slice(0, text.length - line.length);
}
