// What a turn's events mean, as a pure function: an answer being written, and the next one after some events.
import type { Message, TurnEvent } from '@contract/own';

export type Phase = 'begin' | 'loading' | 'queue' | 'reading' | 'thinking' | 'writing';

export interface LiveAnswer {
  phase: Phase;
  ahead: number;
  reading: { done: number; total: number; cached: number } | undefined;
  droppedTurns: number;
  text: string;
  reasoning: string;
  /** Milliseconds of performance.now(). */
  thinkingSince: number | undefined;
  thoughtMs: number | undefined;
  title: string | undefined;
  end: Message | undefined;
}

export const beginning: LiveAnswer = {
  phase: 'begin',
  ahead: 0,
  reading: undefined,
  droppedTurns: 0,
  text: '',
  reasoning: '',
  thinkingSince: undefined,
  thoughtMs: undefined,
  title: undefined,
  end: undefined,
};

/** Applies events that arrived together; texts are joined once, however many tokens came. Unknown kinds are passed over. */
export function applyEvents(before: LiveAnswer, events: readonly TurnEvent[], now: number): LiveAnswer {
  const next = { ...before };
  let text = '';
  let reasoning = '';
  for (const event of events) {
    switch (event.kind) {
      case 'waiting':
        next.phase = event.reason;
        next.ahead = event.ahead;
        break;
      case 'start':
        next.phase = 'reading';
        next.droppedTurns = event.droppedTurns;
        break;
      case 'prefill':
        if (next.phase !== 'thinking' && next.phase !== 'writing') next.phase = 'reading';
        next.reading = { done: event.done, total: event.total, cached: event.cached };
        break;
      case 'reasoning':
        reasoning += event.delta;
        next.thinkingSince ??= now;
        if (next.phase !== 'writing') next.phase = 'thinking';
        break;
      case 'text':
        text += event.delta;
        if (next.thinkingSince !== undefined) next.thoughtMs ??= now - next.thinkingSince;
        next.phase = 'writing';
        break;
      case 'title':
        next.title = event.title;
        break;
      case 'end':
        next.end = event.message;
        if (next.thinkingSince !== undefined) next.thoughtMs ??= now - next.thinkingSince;
        break;
      default:
        break;
    }
  }
  if (text) next.text += text;
  if (reasoning) next.reasoning += reasoning;
  return next;
}
