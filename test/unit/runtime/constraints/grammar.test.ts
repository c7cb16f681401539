// The grammar engine survives its own failures; patterns and bytes that it must be given right.
import { describe, expect, it } from 'vitest';
import { GrammarEngine } from '../../../../electron/runtime/constraints/grammar';
import { grammarPattern } from '../../../../electron/runtime/constraints/pattern';
import { utf8Pending } from '../../../../electron/runtime/constraints/utf8';
import { control, tokenizer } from '../small-tokenizer';

describe('the grammar engine', () => {
  it('is made anew after a schema has aborted it, and what was running goes on', async () => {
    const engine = new GrammarEngine(tokenizer, tokenizer.size, control.return);
    const before = (await engine.compile({ type: 'boolean' }, 1, 'before'))();
    await expect(engine.compile({ type: 'string', pattern: '(?=a)b' }, 1, 'bad')).rejects.toThrow(/bad/);
    const [t] = tokenizer.encode('t');
    expect(before.accept(t!)).toBe(true);
    before.dispose();
    const after = (await engine.compile({ type: 'boolean' }, 1, 'after'))();
    expect(after.accept(tokenizer.encode('{')[0]!)).toBe(false);
    expect(after.accept(t!)).toBe(true);
    after.dispose();
    expect(after.accept(t!)).toBe(false);
  });

  it('refuses what would take it too long', async () => {
    const engine = new GrammarEngine(tokenizer, 201_088, control.return);
    await expect(engine.compile({ type: 'string' }, 30_000, 'tools.big')).rejects.toThrow(/tools\.big.*too large/);
  });

  it('compiles several schemas at once, each into its own grammar', async () => {
    const engine = new GrammarEngine(tokenizer, tokenizer.size, control.return);
    const [digit, brace] = [tokenizer.encode('1')[0]!, tokenizer.encode('[')[0]!];
    const makers = await Promise.all(
      [{ type: 'integer' }, { type: 'array' }, { type: 'integer' }].map((s) => engine.compile(s, 1, 'x')),
    );
    expect(makers.map((make) => make().accept(digit))).toEqual([true, false, true]);
    expect(makers.map((make) => make().accept(brace))).toEqual([false, true, false]);
  });
});

describe('patterns for the grammar', () => {
  it.each<[string, string | null]>([
    ['^[a-z]+$', '[a-z]+'],
    ['^\\d{3}-\\w$', '[0-9]{3}\\-[0-9A-Z_a-z]'],
    ['^(a|b)?c$', '(?:a|b)?c'],
    ['^a+?$', 'a+'],
    ['^.$', '[^\\x00-\\x1f"\\\\]'],
    ['^[^x]$', '[^\\x00-\\x1f"\\\\x]'],
    ['^[!-~]$', '[!#-\\[\\]_-~\\^]'], // the caret never first
    ['^\\$5\\.00$', '\\$5\\.00'],
    ['^漢$', '漢'],
    ['a', null],
    ['^a', null],
    ['a$', null],
    ['^a\\$', null],
    ['^a^b$', null],
    ['^(?!a)b$', null],
    ['^(?<n>a)$', null],
    ['^(a)\\1$', null],
    ['^\\bword\\b$', null],
    ['^\\p{L}$', null],
    ['^[[a]]$', null],
    ['^[z-a]$', null],
    ['^a**$', null],
    ['^"$', null],
    ['^["]$', null],
    ['^(a$', null],
  ])('%s', (pattern, want) => {
    expect(grammarPattern(pattern)?.pattern ?? null).toBe(want);
  });

  it('count what repetition costs', () => {
    expect(grammarPattern('^([a-z]{1,50}[0-9]{1,50}){1,50}$')!.states).toBe(5000);
  });
});

describe('UTF-8 so far', () => {
  it.each<[number[], number]>([
    [[], 0],
    [[0x61], 0],
    [[0xc3, 0xa9], 0],
    [[0xc3], 1],
    [[0x61, 0xf0, 0x9f, 0x8f], 3],
    [[0xf0, 0x9f, 0x8f, 0x94], 0],
    [[0x80], -1],
    [[0xc0], -1],
    [[0xe0, 0x80], -1],
    [[0xed, 0xa0], -1],
    [[0xf4, 0x90], -1],
    [[0xf5], -1],
    [[0xc3, 0x61], -1],
  ])('%j: %i', (bytes, pending) => {
    expect(utf8Pending(Uint8Array.from(bytes))).toBe(pending);
  });
});
