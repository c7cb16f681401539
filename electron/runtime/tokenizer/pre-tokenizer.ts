// Cuts text into the pieces that merging never crosses. Long text is cut into windows first, at places where every known
// pattern cuts anyway, so that memory stays small; a giant word without any such place is cut where the limit is.
import { compilePattern } from './pattern';

/** Characters per window. */
const WINDOW = 1 << 16;
/** The longest stretch given to the expression at once: V8's backtracking stack holds this much of one greedy run. */
const HARD_LIMIT = 1 << 21;

export type SplitBehaviour = 'isolated' | 'removed' | 'mergedWithPrevious' | 'mergedWithNext' | 'contiguous';

export interface SplitStep {
  pattern: string;
  behaviour: SplitBehaviour;
  /** The pattern describes the pieces to keep instead of the separators. */
  invert: boolean;
}

export type Emit = (piece: string) => void;

export class PreTokenizer {
  private readonly steps: { expression: RegExp; behaviour: SplitBehaviour; invert: boolean }[];

  /** `windows`: the patterns are of the known families, whose cuts are known (see isBoundary). */
  constructor(
    steps: SplitStep[],
    private readonly windows: boolean,
  ) {
    this.steps = steps.map(({ pattern, behaviour, invert }) => ({
      expression: compilePattern(pattern),
      behaviour,
      invert,
    }));
  }

  split(text: string, emit: Emit): void {
    for (let at = 0; at < text.length;) {
      const end = this.windowEnd(text, at);
      this.apply(0, at === 0 && end === text.length ? text : text.slice(at, end), emit);
      at = end;
    }
  }

  private windowEnd(text: string, start: number): number {
    if (text.length - start <= WINDOW) return text.length;
    const last = Math.min(text.length, start + HARD_LIMIT);
    if (this.windows) {
      for (let at = start + WINDOW; at < last; at++) if (isBoundary(text, at)) return at;
    }
    if (last === text.length) return last;
    const low = text.charCodeAt(last);
    return low >= 0xdc00 && low < 0xe000 ? last - 1 : last; // never between the halves of a surrogate pair
  }

  private apply(index: number, text: string, emit: Emit): void {
    const step = this.steps[index];
    if (!step) {
      emit(text);
      return;
    }
    const last = index + 1 === this.steps.length;
    const pass: Emit = last ? emit : (piece) => this.apply(index + 1, piece, emit);
    if (step.behaviour === 'isolated') splitIsolated(step.expression, text, pass);
    else splitMerged(step.expression, step.behaviour, step.invert, text, pass);
  }
}

/**
 * A certain cut for all families of pattern.ts: a lone space or a newline between ASCII letters. Letters never run over it,
 * the run of white space has length one, and a space belongs to the word after it, a newline to what was before.
 */
function isBoundary(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const here = text.charCodeAt(at);
  if (here === 0x20) return isAsciiLetter(before) && isAsciiLetter(text.charCodeAt(at + 1));
  return before === 0x0a && isAsciiLetter(here) && isAsciiLetter(text.charCodeAt(at - 2));
}

function isAsciiLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Matches and the text between them are pieces. */
function splitIsolated(expression: RegExp, text: string, emit: Emit): void {
  const pieces = text.match(expression);
  let covered = 0;
  if (pieces) for (const piece of pieces) covered += piece.length;
  if (pieces && covered === text.length) {
    for (const piece of pieces) emit(piece);
    return;
  }
  eachSpan(expression, text, (start, end) => emit(text.slice(start, end)));
}

function splitMerged(expression: RegExp, behaviour: SplitBehaviour, invert: boolean, text: string, emit: Emit): void {
  let held = '';
  let heldSeparator = false;
  const flush = () => {
    if (held) emit(held);
    held = '';
  };
  eachSpan(expression, text, (start, end, matched) => {
    const separator = matched !== invert;
    const piece = text.slice(start, end);
    if (behaviour === 'removed') {
      if (!separator) emit(piece);
    } else if (behaviour === 'mergedWithPrevious') {
      if (separator && !heldSeparator) held += piece;
      else {
        flush();
        held = piece;
      }
      if (separator) flush();
    } else if (behaviour === 'mergedWithNext') {
      if (separator) {
        flush();
        held = piece;
      } else {
        held += piece;
        flush();
      }
    } else {
      if (separator !== heldSeparator) flush();
      held += piece;
    }
    heldSeparator = separator;
  });
  flush();
}

function eachSpan(
  expression: RegExp,
  text: string,
  visit: (start: number, end: number, matched: boolean) => void,
): void {
  let at = 0;
  for (const match of text.matchAll(expression)) {
    if (match.index > at) visit(at, match.index, false);
    at = match.index + match[0].length;
    if (match[0].length > 0) visit(match.index, at, true);
  }
  if (at < text.length) visit(at, text.length, false);
}
