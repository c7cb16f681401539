// When a row waits for us before its next token, and what it is then told: thoughts that have used up their share are ended with
// the header of the final answer, and a constraint allows only some tokens. Pure decisions: the engine is elsewhere.
import type { NativeGuide } from './addon';
import type { Place } from './reader';

/** Which tokens may come next, by what has come so far. */
export interface Constraint {
  /** Every token, replayed ones too. */
  accept(token: number): void;
  /** Bits of the allowed tokens; null: any. */
  mask(): Uint32Array | Int32Array | null;
}

export interface Position {
  place: Place;
  reasoningTokens: number;
}

export interface StepGuideOptions {
  /** Most tokens of thought; undefined: as many as it likes. */
  thoughtTokens?: number;
  /** Tokens that end a thought and begin the answer; null where there is nothing to force. */
  beginAnswer(): readonly number[] | null;
  constraint?: Constraint;
}

export class StepGuide {
  /** The answer has begun, by itself or by us: thoughts are no longer counted. */
  private answering = false;
  /** What is being forced and has not come yet. */
  private forcing: number[] = [];

  constructor(private readonly options: StepGuideOptions) {}

  /** Every token, live or replayed, with the position before it: so a resume knows also what was cut off in the middle. */
  accept(token: number, before: Position): void {
    this.options.constraint?.accept(token);
    this.force(before);
    if (this.forcing[0] === token) this.forcing.shift();
    else this.forcing = [];
  }

  /** The output index, `count` or later, before which the row must wait. */
  nextPause(count: number, { place, reasoningTokens }: Position): number | undefined {
    if (this.options.constraint || this.forcing.length > 0) return count;
    const { thoughtTokens } = this.options;
    if (place === 'text') this.answering = true;
    if (thoughtTokens === undefined || this.answering) return undefined;
    return count + Math.max(0, thoughtTokens - reasoningTokens);
  }

  /** The word for a row that is paused before output token `index`. */
  at(index: number, position: Position): NativeGuide {
    const { constraint } = this.options;
    if (position.place === 'text') this.answering = true;
    this.force(position);
    if (this.forcing.length > 0) {
      const forced = [...this.forcing];
      return { index, forced, ...(constraint && { pauseAt: index + forced.length }) };
    }
    const mask = constraint?.mask() ?? undefined;
    // The token of this index may be one more thought.
    const next = this.nextPause(index + 1, { ...position, reasoningTokens: position.reasoningTokens + 1 });
    return { index, ...(mask && { mask }), ...(next !== undefined && { pauseAt: next }) };
  }

  /** Begins the answer where the thoughts are used up. Only inside a thought: a header may be that of a tool call. */
  private force({ place, reasoningTokens }: Position): void {
    const { thoughtTokens } = this.options;
    if (this.answering || thoughtTokens === undefined || reasoningTokens < thoughtTokens || place !== 'reasoning')
      return;
    const forced = this.options.beginAnswer();
    if (!forced) return;
    this.forcing = [...forced];
    this.answering = true;
  }
}
