// How output tokens become what a person or a client sees: the one face of the harmony parser and of plain text.
import type { Part } from '../contract/runtime';
import type { Output } from './constraints';

/** What a token is part of; `markup` is never shown. */
export type Place = 'markup' | 'reasoning' | 'text' | 'tool';

export interface Reading {
  parts: Part[];
  /** Of the token that was read. */
  place: Place;
}

export interface OutputReader {
  push(token: number): Reading;
  /** What was held back, when nothing more comes. */
  end(): Part[];
  /** Where the next token would stand, as far as that is known. */
  readonly place: Place;
  /** A tool of the client has been called. */
  readonly calledTool: boolean;
  /** The answer as a whole; final only after end(). */
  readonly output: Output;
  /** Tokens that end the thoughts here and begin the answer; null where there is nothing to force. */
  beginAnswer(): readonly number[] | null;
}

/** Neighbours of one channel (and one tool call) as one part. */
export function joinParts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && continues(last, part)) joined[joined.length - 1] = { ...last, delta: last.delta + part.delta };
    else joined.push(part);
  }
  return joined;
}

function continues(last: Part, part: Part): boolean {
  if (last.channel !== part.channel) return false;
  if (last.channel !== 'tool' || part.channel !== 'tool') return true;
  return last.call === part.call && part.id === undefined && part.name === undefined;
}
