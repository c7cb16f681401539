// What the comparison with the peer makes of its times: rates, ratios, and the continuous integration's loop that it stays out of.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const script = <T>(name: string) => import(pathToFileURL(join(root, 'test/bench', name)).href) as Promise<T>;

interface Part {
  tokens: number;
  write: number;
  sequences: number;
}
const { rate, prompts } = await script<{
  rate(part: Part, begun: number, times: number[][]): number;
  prompts(part: Part, vocabulary: number, salt: string): number[][];
}>('peer/parts.mjs');
const { summarise, markdown } = await script<{
  summarise(
    runs: { pair: number; side: string; parts: Record<string, number> }[],
  ): Record<string, { ratio: { median: number; least: number; most: number }; pairs: number }>;
  markdown(rows: object): string;
}>('peer/summary.mjs');

describe('rates', () => {
  it('count reading to the first token, and writing only from where every sequence has begun', () => {
    expect(rate({ tokens: 100, write: 1, sequences: 1 }, 500, [[1500]])).toBe(100);
    const times = [
      [100, 200, 300],
      [200, 300, 400],
    ];
    expect(rate({ tokens: 10, write: 3, sequences: 2 }, 0, times)).toBe(15);
  });

  it('refuse a sequence that ended early, which would look fast', () => {
    expect(() => rate({ tokens: 1, write: 3, sequences: 1 }, 0, [[1, 2]])).toThrow('ended after 2 of 3');
  });
});

describe('prompts', () => {
  it('are the same on both sides and different in every run and sequence, so that no cache helps one of them', () => {
    const part = { tokens: 64, write: 1, sequences: 2 };
    const [first, second] = prompts(part, 1000, 'decode pair 1');
    expect(prompts(part, 1000, 'decode pair 1')).toEqual([first, second]);
    expect(second).not.toEqual(first);
    expect(prompts(part, 1000, 'decode pair 2')[0]?.slice(0, 8)).not.toEqual(first?.slice(0, 8));
    expect(first?.every((token) => token >= 0 && token < 1000)).toBe(true);
    expect(new Set(first).size).toBeGreaterThan(50);
  });
});

describe('summary', () => {
  it('takes the median of the pairs’ ratios, turned so that more is better, and leaves half a pair out', () => {
    const run = (pair: number, llama: number, hearth: number, part: string) => [
      { pair, side: 'llama', parts: { [part]: llama } },
      { pair, side: 'hearth', parts: { [part]: hearth } },
    ];
    const rows = summarise([
      ...run(1, 10, 20, 'decode'),
      ...run(2, 10, 50, 'decode'),
      ...run(3, 20, 60, 'decode'),
      ...run(1, 50, 2, 'load'),
      { pair: 4, side: 'llama', parts: { decode: 1 } },
    ]);
    expect(rows.decode).toMatchObject({ ratio: { median: 3, least: 2, most: 5 }, pairs: 3 });
    expect(rows.load).toMatchObject({ ratio: { median: 25 }, pairs: 1 });
    expect(Object.keys(rows)).toEqual(['load', 'decode']);
    expect(markdown(rows).split('\n')[3]).toBe(
      '| decode, tokens/s | 10.0 (10.0–20.0) | 50.0 (20.0–60.0) | **3.00 (2.00–5.00)** | 3 |',
    );
  });
});

describe('long checks', () => {
  it('that the continuous integration runs one after the other hold no measurement', () => {
    const names = (folder: string) => readdirSync(join(root, folder)).filter((name) => name.endsWith('.mjs'));
    expect(names('test/bench')).toContain('peer.mjs');
    expect(names('scripts/long').filter((name) => names('test/bench').includes(name))).toEqual([]);
  });
});
