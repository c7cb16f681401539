// When a row waits for us before its next token, and what it is then told: thoughts that have used up their share are ended with
// the header of the final answer, and a constraint allows only some tokens. Decisions only: the engine is elsewhere.
import type { NativeGuide } from './addon';
import { END_THOUGHTS, type ConstraintRun } from './constraint-thread';
import type { Output } from './constraints';
import type { Place } from './reader';

export interface Position {
  /** Where the next token would stand. */
  place: Place;
  reasoningTokens: number;
}

export interface RowGuide {
  /** Every token, live or replayed, with the position before it: so a resume knows also what was cut off in the middle. */
  accept(token: number, before: Position): void;
  /** The output index, `count` or later, before which the row must wait; undefined: nowhere. */
  nextPause(count: number, position: Position): number | undefined;
  /** The word for a row that is paused before output token `index`. */
  at(index: number, position: Position): NativeGuide | Promise<NativeGuide>;
  /** Nothing more comes. `output`: what ended by itself, to be checked as a whole; gives what is wrong with it, or null. */
  end(output?: Output): Promise<string | null> | undefined;
}

/** Only inside a thought: a header may be that of a tool call, which must not be broken. */
function usedUp(thoughtTokens: number | undefined, { place, reasoningTokens }: Position): boolean {
  return thoughtTokens !== undefined && reasoningTokens >= thoughtTokens && place === 'reasoning';
}

/** Ends the thoughts; all else is free. */
export class ThoughtGuide implements RowGuide {
  /** The answer has begun, by itself or by us: thoughts are no longer counted. */
  private answering = false;
  /** What is being forced and has not come yet. */
  private forcing: number[] = [];

  /** `beginAnswer`: tokens that end a thought and begin the answer; null where there is nothing to force. */
  constructor(
    private readonly thoughtTokens: number | undefined,
    private readonly beginAnswer: () => readonly number[] | null,
  ) {}

  accept(token: number, before: Position): void {
    if (before.place === 'text') this.answering = true;
    this.force(before);
    if (this.forcing[0] === token) this.forcing.shift();
    else this.forcing = [];
  }

  nextPause(count: number, { place, reasoningTokens }: Position): number | undefined {
    if (this.forcing.length > 0) return count;
    if (place === 'text') this.answering = true;
    if (this.thoughtTokens === undefined || this.answering) return undefined;
    return count + Math.max(0, this.thoughtTokens - reasoningTokens);
  }

  at(index: number, position: Position): NativeGuide {
    if (position.place === 'text') this.answering = true;
    this.force(position);
    if (this.forcing.length > 0) return { index, forced: [...this.forcing] };
    // The token of this index may be one more thought.
    const next = this.nextPause(index + 1, { ...position, reasoningTokens: position.reasoningTokens + 1 });
    return { index, ...(next !== undefined && { pauseAt: next }) };
  }

  end(): undefined {
    // Nothing is held, nothing was demanded.
  }

  private force(position: Position): void {
    if (this.answering || !usedUp(this.thoughtTokens, position)) return;
    const forced = this.beginAnswer();
    if (!forced) return;
    this.forcing = [...forced];
    this.answering = true;
  }
}

/** Follows a constraint before every token; the constraint knows how thoughts are ended, too. */
export class ConstrainedGuide implements RowGuide {
  /** What the constraint has not been told yet. */
  private untold: number[] = [];
  private thoughtsEnded = false;

  constructor(
    private readonly run: ConstraintRun,
    private readonly thoughtTokens: number | undefined,
  ) {}

  accept(token: number, before: Position): void {
    this.endThoughts(before);
    this.untold.push(token);
  }

  nextPause(count: number): number {
    return count;
  }

  async at(index: number, position: Position): Promise<NativeGuide> {
    this.endThoughts(position);
    const { forced, mask } = await this.run.next(this.untold.splice(0));
    if (forced) return { index, forced, pauseAt: index + forced.length };
    return { index, ...(mask && { mask }), pauseAt: index + 1 };
  }

  end(output?: Output): Promise<string | null> | undefined {
    if (output) return this.run.check(output);
    this.run.end();
    return undefined;
  }

  private endThoughts(position: Position): void {
    if (this.thoughtsEnded || !usedUp(this.thoughtTokens, position)) return;
    this.thoughtsEnded = true;
    this.untold.push(END_THOUGHTS);
  }
}
