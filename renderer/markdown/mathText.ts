// Tells formulas from money and from backslashes in Markdown text. Gives text in which every formula stands between `$$` and every
// other dollar is escaped, so that remark-math (single dollars off) reads exactly the formulas. Code is left alone. Pure.

export interface MathText {
  source: string;
  hasMath: boolean;
}

const TOKEN = /(`+)|\\([()[\]$\\])|(\$\$?)/g;

export function prepareMath(source: string): MathText {
  if (!source.includes('$') && !source.includes('\\')) return { source, hasMath: false };
  const lines = fencedLines(source);
  let out = '';
  let at = 0;
  let hasMath = false;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(source); match; match = TOKEN.exec(source)) {
    const start = match.index;
    const found = lines(start) ? { end: start + match[0].length, text: match[0], math: false } : read(source, match);
    out += source.slice(at, start) + found.text;
    at = found.end;
    hasMath ||= found.math;
    TOKEN.lastIndex = at;
  }
  return { source: out + source.slice(at), hasMath };
}

interface Piece {
  end: number;
  text: string;
  math: boolean;
}

function read(source: string, match: RegExpExecArray): Piece {
  const start = match.index;
  const [whole, ticks, escaped, dollars] = match;
  const after = start + whole.length;
  const literal = (text: string): Piece => ({ end: after, text, math: false });
  if (ticks) {
    const close = closingTicks(source, after, ticks.length);
    return close < 0 ? literal(whole) : { end: close, text: source.slice(start, close), math: false };
  }
  if (escaped === '(' || escaped === '[') {
    const display = escaped === '[';
    const close = source.indexOf(display ? '\\]' : '\\)', after);
    const body = close < 0 ? '' : source.slice(after, close);
    if (!body.trim() || (!display && body.length > 2000)) return literal(whole);
    return { end: close + 2, text: formula(source, start, close + 2, body, display), math: true };
  }
  if (dollars === '$$') {
    const close = source.indexOf('$$', after);
    const body = close < 0 ? '' : source.slice(after, close);
    if (!body.trim() || /\n\s*\n/.test(body) || !looksLikeMath(body)) return literal('\\$\\$');
    return { end: close + 2, text: formula(source, start, close + 2, body, true), math: true };
  }
  if (dollars === '$') {
    const close = closingDollar(source, start);
    if (close < 0) return literal('\\$');
    return { end: close + 1, text: inline(source.slice(after, close)), math: true };
  }
  return literal(whole);
}

/** Displayed where it has its lines to itself, otherwise within the line. */
function formula(source: string, start: number, end: number, body: string, display: boolean): string {
  const lineStart = source.lastIndexOf('\n', start - 1) + 1;
  const lead = source.slice(lineStart, start);
  const tail = /^[^\n]*/.exec(source.slice(end))?.[0] ?? '';
  if (!display || !/^[\s>]*$/.test(lead) || !/^\s*$/.test(tail)) return inline(body);
  const lines = body.split('\n').map((line) => line.trim());
  const inner = lines.filter((line) => line !== '').join(`\n${lead}`);
  return `$$\n${lead}${inner}\n${lead}$$`;
}

const inline = (body: string): string => `$$${body.replace(/\s*\n\s*/g, ' ').trim()}$$`;

/** Pandoc's rule, made stricter: `$5 and $10`, `$HOME:$PATH` and `US$5` are not formulas. */
function closingDollar(source: string, start: number): number {
  const before = source[start - 1] ?? '';
  const first = source[start + 1] ?? ' ';
  if (/[\p{L}\p{N}]/u.test(before) || /\s/.test(first)) return -1;
  const limit = Math.min(source.length, start + 500);
  for (let i = start + 1; i < limit; i++) {
    const char = source[i];
    if (char === '\\') i++;
    else if (char === '\n' && /^\s*\n/.test(source.slice(i + 1, i + 40))) return -1;
    else if (char === '$') {
      const body = source.slice(start + 1, i);
      if (/\s$/.test(body) || /[\p{L}\p{N}$]/u.test(source[i + 1] ?? '')) return -1;
      return looksLikeMath(body) ? i : -1;
    }
  }
  return -1;
}

/** Plain words do not make a formula unless TeX stands between them. */
export function looksLikeMath(body: string): boolean {
  if (/\\[a-zA-Z]+|[\^_]/.test(body)) return true;
  const words = body.match(/\p{L}{2,}/gu) ?? [];
  if (/^\s*[\d.,]/.test(body)) {
    // It starts like an amount of money: only arithmetic makes it a formula.
    return words.length === 0 && !/^\s*[\d.,]+\s*[.,;:!?)]?\s*$/.test(body) ? /[=+*/<>-]|[a-z]/i.test(body) : false;
  }
  if (/[=<>+*/|]/.test(body)) return words.every((word) => word.length <= 4);
  return !/\s/.test(body) || words.length === 0;
}

function closingTicks(source: string, from: number, count: number): number {
  const ticks = /`+/g;
  ticks.lastIndex = from;
  for (let match = ticks.exec(source); match; match = ticks.exec(source)) {
    if (match[0].length === count) return match.index + count;
  }
  return -1;
}

/** Whether an offset lies within a fenced block, which may stand inside a list or a quotation. */
function fencedLines(source: string): (offset: number) => boolean {
  if (!/```|~~~/.test(source)) return () => false;
  const ranges: [number, number][] = [];
  let open: { at: number; mark: string } | undefined;
  let offset = 0;
  for (const line of source.split('\n')) {
    const mark = /^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/.exec(line)?.[1];
    if (open && mark?.startsWith(open.mark) && line.trim().replace(/^[\s>]+/, '') === mark) {
      ranges.push([open.at, offset + line.length]);
      open = undefined;
    } else if (!open && mark) open = { at: offset, mark };
    offset += line.length + 1;
  }
  if (open) ranges.push([open.at, source.length]);
  return (at) => ranges.some(([from, to]) => at >= from && at < to);
}
