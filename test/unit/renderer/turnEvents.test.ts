// The stream of a turn: whatever the chunks and repetitions, the text is the same.
import type { Message, TurnEvent } from '@contract/own';
import { describe, expect, it } from 'vitest';
import { EventParser } from '../../../renderer/api/streams';
import { applyEvents, beginning } from '../../../renderer/state/turnEvents';

const events: TurnEvent[] = [
  { kind: 'waiting', reason: 'queue', ahead: 2 },
  { kind: 'start', promptTokens: 10, droppedTurns: 3 },
  { kind: 'prefill', done: 5, total: 10, cached: 0 },
  { kind: 'reasoning', delta: 'Let me ' },
  { kind: 'reasoning', delta: 'think.' },
  { kind: 'text', delta: 'Hel' },
  { kind: 'text', delta: 'lo 你好' },
];

describe('applyEvents', () => {
  it('gives the same answer one by one and all at once', () => {
    const together = applyEvents(beginning, events, 5);
    const singly = events.reduce((answer, event) => applyEvents(answer, [event], 5), beginning);
    expect(singly).toEqual(together);
    expect(together).toMatchObject({
      text: 'Hello 你好',
      reasoning: 'Let me think.',
      phase: 'writing',
      droppedTurns: 3,
    });
  });

  it('measures the thought from its first to the first word', () => {
    const thinking = applyEvents(beginning, events.slice(0, 5), 1000);
    expect(thinking.phase).toBe('thinking');
    expect(applyEvents(thinking, events.slice(5), 5000).thoughtMs).toBe(4000);
  });

  it('passes over kinds that it does not know', () => {
    const unknown = { kind: 'later', delta: 'x' } as unknown as TurnEvent;
    expect(applyEvents(beginning, [unknown], 0)).toEqual(beginning);
  });

  it('keeps the finished message', () => {
    const message = { id: 'm', text: 'x' } as Message;
    expect(applyEvents(beginning, [{ kind: 'end', message }], 0).end).toBe(message);
  });
});

describe('EventParser', () => {
  const wire = ': hello\r\n\r\nid: 0\ndata: {"a":\ndata: 1}\n\nid: 1\nevent: x\ndata:two\n\n';

  it.each([1, 2, 5, 1000])('finds the same events in pieces of %i', (size) => {
    const parser = new EventParser();
    const found = [];
    for (let at = 0; at < wire.length; at += size) found.push(...parser.push(wire.slice(at, at + size)));
    expect(found).toEqual([
      { id: '0', data: '{"a":\n1}' },
      { id: '1', data: 'two' },
    ]);
  });
});
