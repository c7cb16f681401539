// The table from spellings to ids, against a Map that holds the same.
import { describe, expect, it } from 'vitest';
import { flatTexts, textAt } from '../../../../electron/runtime/tokenizer/flat-texts';
import { Spellings } from '../../../../electron/runtime/tokenizer/spellings';

const encoder = new TextEncoder();

/** Many short texts over few letters: prefixes of each other, doubles, the empty one, several bytes a letter. */
function texts(count: number): string[] {
  const letters = ['a', 'b', 'Ġ', '▁', '😀'];
  let state = 1;
  const draw = (below: number) => (state = (state * 48271) % 2147483647) % below;
  return Array.from({ length: count }, () => Array.from({ length: draw(6) }, () => letters[draw(5)]!).join(''));
}

describe('flat texts', () => {
  it('give back what was put in, raw bytes among it', () => {
    const list = ['', 'abc', 'ß▁', '', '😀'.repeat(40)];
    const flat = flatTexts([...list, Uint8Array.of(0x61, 0xff)]);
    expect(list.map((_, i) => textAt(flat, i))).toEqual(list);
    expect(flat.bytes.subarray(-2)).toEqual(Uint8Array.of(0x61, 0xff));
    expect(flat.ends).toHaveLength(6);
  });
});

describe('spellings', () => {
  const list = texts(3000);
  const spoken = (id: number) => id % 7 !== 0;
  const table = new Spellings(flatTexts(list), spoken);
  const known = new Map<string, number>();
  list.forEach((text, id) => {
    if (spoken(id) && !known.has(text)) known.set(text, id);
  });

  it('find the lowest id of every spelling, and no other', () => {
    for (const text of [...list, ...texts(4000).map((each) => `${each}b`)]) {
      expect(table.get(text)).toBe(known.get(text));
    }
  });

  it('find what two stretches join to, as the whole text does', () => {
    for (const text of list.slice(0, 500)) {
      const bytes = encoder.encode(`${text} ${text}`);
      const length = encoder.encode(text).length;
      for (let cut = 0; cut <= length; cut++) {
        expect(table.findJoined(bytes, 0, cut, length + 1 + cut, bytes.length)).toBe(known.get(text) ?? -1);
      }
    }
  });
});
