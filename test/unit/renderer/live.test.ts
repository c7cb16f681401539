// Tokens gather outside React: many events make one change of the store per frame; a broken connection loses and repeats nothing.
import type { Message, TurnEvent } from '@contract/own';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rememberToken } from '../../../renderer/api/token';
import { attachTurn, setLiveHooks, useLive } from '../../../renderer/state/live';

const ended = { id: 'm1', chatId: 'c1', text: 'abcdef', status: 'complete' } as Message;
const log: TurnEvent[] = [
  ...[...'abcdef'].map((delta): TurnEvent => ({ kind: 'text', delta })),
  { kind: 'end', message: ended },
];

function body(from: number, to: number, breaks: boolean): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (let id = from; id < to; id++)
        controller.enqueue(bytes.encode(`id: ${id}\ndata: ${JSON.stringify(log[id])}\n\n`));
      if (breaks) controller.error(new Error('gone'));
      else controller.close();
    },
  });
}

describe('attachTurn', () => {
  const asked: string[] = [];

  beforeEach(() => {
    rememberToken('secret-token');
    asked.length = 0;
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    useLive.setState({ answers: {}, thoughtMs: {}, writing: {}, stopping: {} });
  });

  it('reconnects with the last cursor and ends once', async () => {
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      asked.push(url);
      expect(new Headers(init.headers).get('authorization')).toBe('Bearer secret-token');
      const first = asked.length === 1;
      // The second connection repeats one event; it must not be shown twice.
      return Promise.resolve(new Response(first ? body(0, 3, false) : body(2, log.length, false)));
    });
    let changes = 0;
    const stopCounting = useLive.subscribe(() => changes++);
    const end = new Promise<string>((resolve) => {
      setLiveHooks({ onTitle: () => undefined, onGone: () => undefined, onEnd: (_, answer) => resolve(answer.text) });
    });
    attachTurn('c1', 't1', 'm1');
    attachTurn('c1', 't1', 'm1');
    expect(await end).toBe('abcdef');
    expect(asked).toEqual(['/hearth/v1/turns/t1/events?cursor=0', '/hearth/v1/turns/t1/events?cursor=3']);
    await vi.waitFor(() => expect(useLive.getState().answers).toEqual({}));
    stopCounting();
    expect(changes).toBeLessThanOrEqual(5);
  });

  it('gives up a turn that the server does not know', async () => {
    vi.stubGlobal('fetch', () =>
      Promise.resolve(new Response('{"error":{"code":"not_found","message":""}}', { status: 404 })),
    );
    const gone = new Promise<string>((resolve) => {
      setLiveHooks({
        onTitle: () => undefined,
        onEnd: () => undefined,
        onGone: (chatId, error) => resolve(`${chatId} ${error.code}`),
      });
    });
    attachTurn('c2', 't2', 'm2');
    expect(await gone).toBe('c2 not_found');
    expect(useLive.getState().answers).toEqual({});
  });
});
