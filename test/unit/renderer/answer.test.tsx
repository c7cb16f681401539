// However an answer ends, the page says so in words, with a way on, and its numbers are those of the server.
import type { ChatWithMessages, Message } from '@contract/own';
import { render } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { t } from '../../../renderer/i18n';
import { AnswerMessage } from '../../../renderer/thread/AnswerMessage';
import { numbersOf } from '../../../renderer/thread/AnswerNumbers';
import { thoughtMsOf } from '../../../renderer/thread/thoughtTime';
import { UserMessage } from '../../../renderer/thread/UserMessage';

const base: Message = {
  id: 'a1',
  chatId: 'c1',
  parentId: 'u1',
  role: 'assistant',
  text: 'Some words.',
  reasoning: '',
  status: 'complete',
  finishReason: 'stop',
  usage: { promptTokens: 10, completionTokens: 812, reasoningTokens: 400, cachedTokens: 0 },
  timings: { queueMs: 100, prefillMs: 900, ttftMs: 1200, decodeMs: 8120, prefillTps: 90, decodeTps: 42.13 },
  createdAt: 1,
};

const chat = (messages: Message[]): ChatWithMessages => ({
  id: 'c1',
  title: 'T',
  createdAt: 1,
  updatedAt: 1,
  deletedAt: null,
  headId: messages.at(-1)?.id ?? null,
  settings: { answerLength: 'unlimited', creativity: 'balanced', memory: 'all', effort: 'medium', instructions: '' },
  date: '2026-11-29',
  messages,
});

function show(change: Partial<Message>): HTMLElement {
  const message = { ...base, ...change };
  return render(<AnswerMessage chat={chat([message])} message={message} last />).container;
}

describe('the end of an answer', () => {
  it.each([
    [{ status: 'stopped', finishReason: 'cancelled' }, 'You stopped this answer.'],
    [{ status: 'interrupted', finishReason: undefined }, 'This answer was interrupted.'],
    [{ finishReason: 'repetition' }, 'began to repeat itself'],
    [{ finishReason: 'length' }, 'reached its length limit'],
    [{ text: '' }, 'The model gave no text.'],
    [
      { status: 'error', finishReason: 'error', error: { code: 'runtime_crashed', message: 'x' } },
      'Send your message once more',
    ],
    [
      { status: 'error', error: { code: 'context_length_exceeded', message: 'x', needed: 9000, available: 4096 } },
      '9,000 tokens, and the model holds 4,096.',
    ],
  ] as [Partial<Message>, string][])('%j says: %s', (change, words) => {
    const page = show(change);
    expect(page).toHaveTextContent(words);
    // What had been written stays, whatever happened.
    if (change.text !== '') expect(page).toHaveTextContent('Some words.');
  });

  it('survives an error code from a newer server', () => {
    const error = { code: 'from_the_future', message: 'details of it' } as unknown as Message['error'];
    expect(show({ status: 'error', error })).toHaveTextContent('Something went wrong inside Hearth.');
  });

  it('tells which turns were left out', () => {
    const receipt = {
      model: 'm',
      modelId: 'id',
      engineBuild: 'b',
      mesh: 'cpu',
      requestId: 'r',
      seed: 1,
      temperature: 1,
      droppedTurns: 3,
    };
    expect(show({ receipt })).toHaveTextContent('The oldest 3 turns were left out');
  });
});

describe('numbers', () => {
  it('are speed, time to the first word, tokens and the end in words', () => {
    expect(numbersOf(t, base)).toEqual(['42.1 tokens/s', '1.3 s to the first word', '812 tokens', 'finished']);
  });

  it('are absent where nothing was written', () => {
    expect(numbersOf(t, { ...base, usage: { ...base.usage!, completionTokens: 0 } })).toEqual([]);
  });

  it('give the thought its share of the time', () => {
    expect(thoughtMsOf(base)).toBeCloseTo(4000);
    expect(thoughtMsOf({ ...base, timings: undefined })).toBeUndefined();
  });
});

describe('thoughts', () => {
  it('are folded away, and not in the answer', () => {
    const page = show({ reasoning: 'secret plan' });
    expect(page).toHaveTextContent('Thought for 4 s');
    expect(page).not.toHaveTextContent('secret plan');
  });
});

describe('a long message of the user', () => {
  it('is folded and can be opened', () => {
    const message: Message = { ...base, id: 'u1', parentId: null, role: 'user', text: `${'line\n'.repeat(100)}END` };
    const { container, getByRole } = render(<UserMessage chat={chat([message])} message={message} />);
    expect(container).not.toHaveTextContent('END');
    getByRole('button', { name: 'Show all of it' }).click();
    return expect.poll(() => container.textContent).toContain('END');
  });
});
