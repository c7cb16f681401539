// The small decisions of the runtime process, without a process.
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../electron/contract/chat';
import { summarise } from '../../../electron/runtime/bench';
import { workOf } from '../../../electron/runtime/bench-work';
import { afterRunning } from '../../../electron/runtime/job-thread';
import { LogprobQueue } from '../../../electron/runtime/logprob-queue';
import { parseStatus } from '../../../electron/runtime/process-memory';
import { joinParts } from '../../../electron/runtime/reader';
import { Stopwatch } from '../../../electron/runtime/stopwatch';
import { countTurns, dropTurns } from '../../../electron/contract/turns';
import { fitTurns } from '../../../electron/runtime/turn-dropping';

const turn = (i: number): ChatMessage[] => [
  { role: 'user', content: `question ${i}` },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
  { role: 'tool', toolCallId: 'c', content: 'result' },
  { role: 'assistant', content: `answer ${i}` },
];
const chat = (turns: number): ChatMessage[] => [
  { role: 'system', content: 'Be kind.' },
  ...Array.from({ length: turns }, (_, i) => turn(i)).flat(),
];

describe('dropping turns', () => {
  it('never parts a tool result from its call, and never drops the instructions', () => {
    const kept = dropTurns(chat(3), 2);
    expect(kept.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
    expect(kept[1]?.content).toBe('question 2');
  });

  it('keeps the last turn whatever it is asked', () => {
    expect(dropTurns(chat(2), 99)).toHaveLength(5);
    expect(dropTurns([], 3)).toEqual([]);
    expect(countTurns([{ role: 'system', content: 'x' }])).toBe(0);
  });

  it('drops no more than is needed', () => {
    for (let limit = 5; limit <= 45; limit++) {
      const kept = fitTurns(
        chat(10),
        { maxTokens: limit },
        (messages) => messages,
        (messages) => messages.length,
      );
      const most = Math.min(10, Math.floor((limit - 1) / 4));
      expect(kept.droppedTurns).toBe(10 - Math.max(1, most));
    }
  });

  it('renders a long chat a few times, not once per turn', () => {
    let renders = 0;
    const build = (messages: ChatMessage[]) => (renders++, messages);
    fitTurns(chat(1000), { maxTokens: 100 }, build, (messages) => messages.length);
    expect(renders).toBeLessThan(15);
  });

  it('gives the last turn back where even that is too long, for the caller to refuse', () => {
    const kept = fitTurns(
      chat(3),
      { maxTokens: 2 },
      (messages) => messages,
      (messages) => messages.length,
    );
    expect(kept).toMatchObject({ droppedTurns: 2 });
  });
});

describe('parts', () => {
  it('are joined within a channel and never across calls', () => {
    const tool = (call: number, delta: string, name?: string) => ({
      channel: 'tool' as const,
      call,
      delta,
      ...(name && { name, id: name }),
    });
    const joined = joinParts([
      { channel: 'text', delta: 'a' },
      { channel: 'text', delta: 'b' },
      tool(0, '', 'f'),
      tool(0, '{'),
      tool(0, '}'),
      tool(1, '', 'g'),
    ]);
    expect(joined).toEqual([{ channel: 'text', delta: 'ab' }, tool(0, '{}', 'f'), tool(1, '', 'g')]);
  });
});

describe('logprobs', () => {
  it('wait for their text', () => {
    const queue = new LogprobQueue();
    const entry = (token: string) => ({ token, bytes: [], logprob: 0, top: [] });
    queue.add(0, entry('a'));
    queue.add(1, entry('b'));
    expect(queue.release(1).map(({ token }) => token)).toEqual(['a']);
    expect(queue.release(1)).toEqual([]);
    expect(queue.releaseAll().map(({ token }) => token)).toEqual(['b']);
  });
});

describe('the time limit of a job', () => {
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('does not count while the process is stopped or the machine sleeps', async () => {
    let late = false;
    const stop = afterRunning(1000, () => (late = true));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    await pause(300);
    expect(late).toBe(false);
    await pause(1000);
    expect(late).toBe(true);
    stop();
  });

  it('is gone with the job', async () => {
    let late = false;
    afterRunning(20, () => (late = true))();
    await pause(60);
    expect(late).toBe(false);
  });
});

describe('timings', () => {
  it('do not count the first token towards the writing speed, nor the wait towards the reading', () => {
    let now = 0;
    const watch = new Stopwatch(() => now);
    now = 100;
    watch.start();
    now = 300;
    watch.prefillDone();
    for (let i = 0; i < 11; i++) {
      watch.token();
      now += 10;
    }
    expect(watch.timings(50)).toEqual({
      queueMs: 100,
      prefillMs: 200,
      ttftMs: 200,
      decodeMs: 100,
      prefillTps: 250,
      decodeTps: 100,
    });
  });

  it('are zero and not NaN where nothing happened', () => {
    const values = Object.values(new Stopwatch(() => 5).timings(0));
    expect(values.every((value) => value === 0)).toBe(true);
  });
});

describe('memory of the process', () => {
  it('is read from Linux’s own words', () => {
    expect(parseStatus('VmRSS:\t    2048 kB\nRssAnon:\t    1024 kB\n')).toEqual({
      rssBytes: 2097152,
      rssAnonBytes: 1048576,
    });
    expect(parseStatus('Name: x')).toBeUndefined();
  });
});

describe('measurements', () => {
  it('of several sequences count writing from when all have been read', () => {
    const params = { prefill: 100, decode: 3, sequences: 2 };
    const result = summarise(params, [
      { submitted: 0, tokens: [100, 200, 300] },
      { submitted: 0, tokens: [200, 300, 400] },
    ]);
    expect(result).toMatchObject({ prefillTps: 1000, decodeTps: 15, ttftMs: 100, tbtMs: { p50: 100, max: 100 } });
  });

  it('count of the experts only those that a step uses, and of the output matrix none while a prompt is read', () => {
    const tensors = [
      { name: 'token_embd.weight', shape: [100, 10], bytes: 4000 },
      { name: 'output.weight', shape: [100, 10], bytes: 4000 },
      { name: 'blk.0.attn_output.weight', shape: [10, 10], bytes: 400 },
      { name: 'blk.0.ffn_up_exps.weight', shape: [8, 10, 10], bytes: 3200 },
    ];
    const model = { experts: 8, expertsUsed: 2 };
    const one = workOf({ tensors, model, kvBytesPerToken: 3 }, { prefill: 100, sequences: 1 });
    expect(one.prefillOps).toBeCloseTo(2 * (100 + 200));
    expect(one.decodeBytes).toBeCloseTo(4000 + 400 + 800 + 300);
    // Two rows choose 8 · (1 − 0.75²) = 3.5 experts of 400 bytes.
    const two = workOf({ tensors, model, kvBytesPerToken: 0 }, { prefill: 1, sequences: 2 });
    expect(two.decodeBytes).toBeCloseTo(4000 + 400 + 1400);
  });

  it('read a tied embedding table whole in every step', () => {
    const tensors = [{ name: 'model.embed_tokens.weight', shape: [100, 10], bytes: 4000 }];
    const work = workOf(
      { tensors, model: { experts: 0, expertsUsed: 0 }, kvBytesPerToken: 0 },
      { prefill: 1, sequences: 4 },
    );
    expect(work).toEqual({ prefillOps: 0, decodeBytes: 4000 });
  });
});
