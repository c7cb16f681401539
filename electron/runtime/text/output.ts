// What every parser of a model's output offers to the generation loop, whatever the model's format.
import type { Part } from '../../contract/runtime';

/**
 * Where the next token will go. `header`: markup before a message. `between`: after a message, nothing decided yet.
 * `analysis` is thought; `commentary` and `final` are visible; `hidden` is dropped; after `ended` nothing counts.
 */
export type Place = 'header' | 'analysis' | 'commentary' | 'final' | 'tool' | 'hidden' | 'between' | 'ended';

export interface OutputResult {
  /** Joined deltas. */
  content: string;
  reasoning: string;
  toolCalls: { id: string; name: string; arguments: string }[];
}

export interface OutputParser {
  /** The parts that are certain after one more token. Never throws. */
  push(token: number): Part[];
  /** No more tokens will come: gives out what is held. An unfinished character is dropped. */
  finish(): Part[];
  /** Everything so far; final only after finish(). */
  result(): OutputResult;
  readonly place: Place;
  /** Content tokens so far, by where they went. */
  readonly counts: { readonly reasoning: number; readonly text: number; readonly tool: number };
  /** Tokens that begin the final answer from here; [] where it has begun or must not be forced. */
  forceFinal(): number[];
}
