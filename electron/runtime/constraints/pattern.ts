// A schema's `pattern` as an expression that the grammar engine takes, and that only matches strings which JSON writes without
// escapes. What cannot be expressed exactly or as a subset is refused with null: never loosened.

export interface GrammarPattern {
  pattern: string;
  /** About how many automaton states it has. */
  states: number;
}

type Range = [number, number];

/** Control characters, the quote and the backslash need escapes in JSON. */
const EXCLUDED: Range[] = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
];
const LAST = 0x10ffff;
const DIGIT: Range[] = [[0x30, 0x39]];
const WORD: Range[] = [...DIGIT, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
const SPACE: Range[] = [[0x20, 0x20]];
const LONGEST = 2000;

/** Strings of `least` to `most` characters (none: no bound), as a pattern. */
export function lengthPattern(least: number, most: number | undefined): string {
  return `${emitClass([[0, LAST]])}{${least},${most ?? ''}}`;
}

/**
 * Null where the pattern uses what the grammar cannot express (look-around, back references, flags, …). It must be anchored at
 * both ends: text of any length around a pattern makes the grammar too slow, and taking it for the whole would change its sense.
 */
export function grammarPattern(source: string): GrammarPattern | null {
  if (source.length > LONGEST) return null;
  try {
    return new Reader(source).read();
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

class Refused extends Error {}

class Reader {
  private at = 1;
  private readonly end: number;

  constructor(private readonly source: string) {
    if (!source.startsWith('^') || !/(^|[^\\])(\\\\)*\$$/.test(source)) throw new Refused();
    this.end = source.length - 1;
  }

  read(): GrammarPattern {
    const body = this.alternatives();
    // "^a|b$" anchors each branch at one side only
    if (this.at < this.end || body.branches > 1) throw new Refused();
    return { pattern: body.pattern, states: body.states };
  }

  private alternatives(): GrammarPattern & { branches: number } {
    let branches = 1;
    let { pattern, states } = this.sequence();
    while (this.peek() === '|') {
      this.at++;
      const next = this.sequence();
      pattern += `|${next.pattern}`;
      states += next.states;
      branches++;
    }
    return { pattern, states, branches };
  }

  private sequence(): GrammarPattern {
    let pattern = '';
    let states = 0;
    for (let c = this.peek(); c !== '' && c !== '|' && c !== ')'; c = this.peek()) {
      const atom = this.atom();
      const { text, times } = this.quantifier();
      pattern += atom.pattern + text;
      states += atom.states * times;
    }
    return { pattern, states };
  }

  private atom(): GrammarPattern {
    const c = this.peek();
    if (c === '(') return this.group();
    if (c === '[') return { pattern: emitClass(this.charClass()), states: 1 };
    if ('^$*+?{'.includes(c)) throw new Refused();
    const point = this.source.codePointAt(this.at)!;
    this.at += point > 0xffff ? 2 : 1;
    if (c === '.') return { pattern: emitClass([[0, LAST]]), states: 1 };
    const ranges: Range[] = c === '\\' ? this.escape() : [[point, point]];
    const single = ranges.length === 1 && ranges[0]![0] === ranges[0]![1];
    if (!single) return { pattern: emitClass(ranges), states: 1 };
    const literal = ranges[0]![0];
    if (isExcluded(literal)) throw new Refused();
    return { pattern: escapeLiteral(literal), states: 1 };
  }

  private group(): GrammarPattern {
    this.at++;
    if (this.peek() === '?') {
      if (this.source[this.at + 1] !== ':') throw new Refused();
      this.at += 2;
    }
    const { pattern, states } = this.alternatives();
    if (this.peek() !== ')') throw new Refused();
    this.at++;
    return { pattern: `(?:${pattern})`, states };
  }

  private quantifier(): { text: string; times: number } {
    const rest = this.source.slice(this.at, this.end);
    const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(rest);
    if (!match) return { text: '', times: 1 };
    this.at += match[0].length;
    if (this.peek() === '?') this.at++; // laziness does not change the language
    return { text: match[0], times: Math.max(1, Number(match[1] ?? 1), Number(match[3] ?? 1)) };
  }

  private charClass(): Range[] {
    this.at++;
    const negated = this.peek() === '^';
    if (negated) this.at++;
    const ranges: Range[] = [];
    while (this.peek() !== ']') {
      const low = this.classItem();
      const dash = this.peek() === '-' && this.source[this.at + 1] !== ']';
      if (!dash || low.length !== 1 || low[0]![0] !== low[0]![1]) {
        ranges.push(...low);
        continue;
      }
      this.at++;
      const high = this.classItem();
      if (high.length !== 1 || high[0]![0] !== high[0]![1] || high[0]![0] < low[0]![0]) throw new Refused();
      ranges.push([low[0]![0], high[0]![0]]);
    }
    this.at++;
    return negated ? subtract([[0, LAST]], ranges) : ranges;
  }

  private classItem(): Range[] {
    const c = this.peek();
    if (c === '' || c === '[') throw new Refused();
    const point = this.source.codePointAt(this.at)!;
    this.at += point > 0xffff ? 2 : 1;
    return c === '\\' ? this.escape() : [[point, point]];
  }

  private escape(): Range[] {
    const c = this.peek();
    this.at++;
    if (c === 'd') return DIGIT;
    if (c === 'w') return WORD;
    if (c === 's') return SPACE;
    if (c === '' || /[A-Za-z0-9]/.test(c)) throw new Refused();
    const point = c.codePointAt(0)!;
    return [[point, point]];
  }

  private peek(): string {
    return this.at < this.end ? this.source[this.at]! : '';
  }
}

function isExcluded(point: number): boolean {
  return EXCLUDED.some(([low, high]) => point >= low && point <= high);
}

function subtract(from: Range[], what: Range[]): Range[] {
  let left = from;
  for (const [low, high] of what) {
    left = left.flatMap(([a, b]): Range[] => {
      if (high < a || low > b) return [[a, b]];
      const parts: Range[] = [];
      if (a < low) parts.push([a, low - 1]);
      if (b > high) parts.push([high + 1, b]);
      return parts;
    });
  }
  return left;
}

/**
 * As a class of ASCII characters, or as the opposite of one: the grammar engine misreads other ranges, and a class that begins
 * with an escaped "^".
 */
function emitClass(ranges: Range[]): string {
  const kept = subtract(subtract([[0, LAST]], subtract([[0, LAST]], ranges)), EXCLUDED);
  if (kept.length === 0) throw new Refused();
  if (kept.every(([, high]) => high < 0x80)) {
    const items = kept.flatMap(([a, b]) => (a <= 0x5e && b >= 0x5e ? split(a, b, 0x5e) : [emitRange(a, b)]));
    return `[${items.filter((i) => i !== CARET).join('')}${items.includes(CARET) ? CARET : ''}]`;
  }
  const others = subtract([[0, LAST]], kept);
  if (others.some(([, high]) => high >= 0x80)) throw new Refused();
  return `[^${others.map(([a, b]) => emitRange(a, b)).join('')}]`;
}

const CARET = '\\^';

/** A range without one point of it, and that point. */
function split(low: number, high: number, at: number): string[] {
  const parts = subtract([[low, high]], [[at, at]]).map(([a, b]) => emitRange(a, b));
  return [...parts, CARET];
}

function emitRange(low: number, high: number): string {
  return low === high ? emitPoint(low) : `${emitPoint(low)}-${emitPoint(high)}`;
}

function emitPoint(point: number): string {
  return point < 0x20 || point === 0x7f ? `\\x${point.toString(16).padStart(2, '0')}` : escapeLiteral(point);
}

function escapeLiteral(point: number): string {
  const c = String.fromCodePoint(point);
  return /[\\^$.*+?()[\]{}|/-]/.test(c) ? `\\${c}` : c;
}
