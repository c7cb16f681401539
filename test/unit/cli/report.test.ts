// What a command says of a failure, and what it reads from a running Hearth.
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import { serverSentEvents } from '../../../electron/cli/ask-server';
import { main } from '../../../electron/cli/command';
import { bytes, report, table, type Io } from '../../../electron/cli/report';

function record(): Io & { output: { out: string; err: string } } {
  const output = { out: '', err: '' };
  return { output, terminal: false, out: (text) => (output.out += text), err: (text) => (output.err += text) };
}

describe('failures', () => {
  it('are one sentence with a remedy, on standard error', () => {
    const io = record();
    expect(report(io, new HearthError('out_of_ram', 'The model needs 14 GB'), false)).toBe(1);
    expect(io.output.out).toBe('');
    expect(io.output.err).toMatch(/^The model needs 14 GB\. Close other programs.*\n$/);
  });

  it('keep code and amounts as JSON', () => {
    const io = record();
    report(io, new HearthError('out_of_ram', 'Too large.', { needed: 14, available: 8 }), true);
    expect(JSON.parse(io.output.out)).toMatchObject({ error: { code: 'out_of_ram', needed: 14, available: 8 } });
  });

  it('even a bug does not show its stack', () => {
    const io = record();
    report(io, new TypeError('x is not a function'), false);
    expect(io.output.err).not.toContain(' at ');
  });
});

describe('the command', () => {
  it('shows its verbs without starting anything', async () => {
    const io = record();
    expect(await main(['--help'], io)).toBe(0);
    for (const verb of ['serve', 'run', 'logits', 'bench', 'ls', 'doctor']) expect(io.output.out).toContain(verb);
  });

  it('refuses what it does not know, with exit code 1', async () => {
    for (const argv of [
      ['fly'],
      ['run', 'x'],
      ['bench', 'x', '--decode', '0'],
      ['run', 'x', 'y', '--effort', 'extreme'],
    ]) {
      const io = record();
      expect(await main(argv, io)).toBe(1);
      expect(io.output.err).not.toBe('');
    }
  });
});

describe('the stream of a running Hearth', () => {
  async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
    const all = new TextEncoder().encode(text);
    for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size);
  }

  it('is the same however the network cuts it', async () => {
    const text = 'data: {"a":"é"}\n\n: comment\n\ndata: one\ndata: two\r\n\r\ndata: [DONE]\n\n';
    for (const size of [1, 2, 3, 7, 1000]) {
      const events: string[] = [];
      for await (const event of serverSentEvents(cut(text, size))) events.push(event);
      expect(events).toEqual(['{"a":"é"}', 'one\ntwo', '[DONE]']);
    }
  });
});

describe('what people read', () => {
  it('has amounts in units that fit', () => {
    expect([999, 1000, 8_876_896, 13_780_000_000].map(bytes)).toEqual(['999 B', '1.0 kB', '8.9 MB', '13.8 GB']);
  });

  it('has columns that line up', () => {
    expect(
      table([
        ['NAME', 'SIZE'],
        ['a-long-name', '1 KB'],
      ]),
    ).toBe('NAME         SIZE\na-long-name  1 KB\n');
  });
});
