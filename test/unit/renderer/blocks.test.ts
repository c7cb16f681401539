// ui-13: text that streams in never turns into code and back, and finished blocks are never drawn again.
import { describe, expect, it } from 'vitest';
import { BlockSplitter, withoutDoubtfulEnd, type Block } from '../../../renderer/markdown/blocks';
import { healOpenMarks } from '../../../renderer/markdown/heal';

const TEXT = `# Title

First paragraph with **bold** text.

\`\`\`python
print("a")

print("b")
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

- one
- two

\\[
x = 1
\\]

Last words.`;

function stream(text: string, step: number): Block[][] {
  const splitter = new BlockSplitter();
  const seen: Block[][] = [];
  for (let at = step; at < text.length + step; at += step) seen.push(splitter.update(text.slice(0, at), true));
  seen.push(splitter.update(text, false));
  return seen;
}

const kinds = (blocks: Block[] | undefined): string[] => (blocks ?? []).map((block) => block.kind);

describe('BlockSplitter', () => {
  it('gives the same blocks however the text arrives', () => {
    const whole = new BlockSplitter().update(TEXT, false);
    expect(kinds(whole)).toEqual(['markdown', 'markdown', 'code', 'markdown', 'markdown', 'math', 'markdown']);
    for (const step of [1, 3, 7, 50]) {
      const last = stream(TEXT, step).at(-1);
      expect(last?.map(({ at, raw }) => ({ at, raw }))).toEqual(whole.map(({ at, raw }) => ({ at, raw })));
    }
  });

  it('covers the text without a gap but white space', () => {
    const blocks = new BlockSplitter().update(TEXT, false);
    for (const block of blocks) expect(TEXT.slice(block.at, block.at + block.raw.length)).toBe(block.raw);
  });

  it('keeps finished blocks as the same objects', () => {
    const seen = stream(TEXT, 5);
    const early = seen.findIndex((blocks) => blocks.length === 5);
    const first = seen[early]?.slice(0, 2);
    for (const blocks of seen.slice(early)) expect(blocks.slice(0, 2)).toEqual(first);
    expect(seen.at(-1)?.[0]).toBe(first?.[0]);
    expect(seen.at(-1)?.[1]).toBe(first?.[1]);
  });

  it('never turns a paragraph into something else while a rule, list or fence begins below it', () => {
    const text = 'Some words\n- item\n- item\n\nMore words\n```js\nx\n```\n';
    for (const blocks of stream(text, 1)) expect(['markdown', undefined]).toContain(blocks[0]?.kind);
    for (const blocks of stream(text, 1)) expect(blocks[0]?.raw ?? '').not.toMatch(/\n-$/);
  });

  it('takes an open fence as code to the end, and stays with it', () => {
    const seen = stream('Look:\n\n```\nline 1\n\n# not a title\n| not | a table |', 1);
    const codeFrom = seen.findIndex((blocks) => blocks.at(-1)?.kind === 'code');
    for (const blocks of seen.slice(codeFrom)) expect(kinds(blocks)).toEqual(['markdown', 'code']);
    expect(seen.at(-1)?.[1]).toMatchObject({ closed: false, body: 'line 1\n\n# not a title\n| not | a table |' });
  });

  it('shows a line of 50,000 characters as plain text, fast', () => {
    const splitter = new BlockSplitter();
    const line = 'a'.repeat(50_000);
    const began = performance.now();
    for (let at = 500; at <= line.length; at += 500) splitter.update(line.slice(0, at), true);
    expect(kinds(splitter.update(line, false))).toEqual(['plain']);
    expect(performance.now() - began).toBeLessThan(2000);
  });

  it('stays quick with 3000 lines in an open fence', () => {
    const splitter = new BlockSplitter();
    const text = '```js\n' + 'const line = 1;\n'.repeat(3000);
    const began = performance.now();
    for (let at = 400; at <= text.length; at += 400) splitter.update(text.slice(0, at), true);
    expect(performance.now() - began).toBeLessThan(4000);
  });

  it('makes text of a formula that is never closed', () => {
    const splitter = new BlockSplitter();
    expect(kinds(splitter.update('\\[ a + b', true))).toEqual(['math']);
    expect(kinds(splitter.update('\\[ a + b', false))).toEqual(['markdown']);
  });

  it('begins anew with another text', () => {
    const splitter = new BlockSplitter();
    splitter.update('One\n\nTwo\n\nThree\n\nFour', true);
    expect(splitter.update('Other', false)).toMatchObject([{ at: 0, raw: 'Other' }]);
  });
});

describe('withoutDoubtfulEnd', () => {
  it.each([
    ['Words\n-', 'Words\n'],
    ['Words\n``', 'Words\n'],
    ['Words\n1.', 'Words\n'],
    ['Words\n- a', 'Words\n- a'],
    ['Words 5', 'Words 5'],
    ['```js\nx', '```js\nx'],
  ])('%j', (text, expected) => expect(withoutDoubtfulEnd(text)).toBe(expected));
});

describe('healOpenMarks', () => {
  it.each([
    ['some **bold', 'some **bold**'],
    ['some **', 'some '],
    ['a `code', 'a `code`'],
    ['done **bold** here', 'done **bold** here'],
    ['`a ** b` plain', '`a ** b` plain'],
  ])('%j', (text, expected) => expect(healOpenMarks(text)).toBe(expected));
});
