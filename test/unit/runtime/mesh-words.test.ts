// Failures prevented: answers of two divisions that round differently, traced to the same words.
import { describe, expect, it } from 'vitest';
import type { Mesh } from '../../../electron/contract/runtime';
import { meshWords } from '../../../electron/runtime/mesh-words';

const rank = { device: 'cpu', threads: 0, share: 1, layers: 0 };
const row = (served: Mesh['served']): Mesh => ({ split: 'layers', ranks: [{ ...rank, layers: 6 }], served });

describe('the words of a division', () => {
  it.each<[Mesh, string]>([
    [{ split: 'tensor', ranks: [rank, { ...rank, share: 0.5 }], served: [] }, 'tensor 1.00:0.50'],
    [{ split: 'handover', ranks: [rank, rank], served: [] }, 'handover'],
    [row([]), 'layers 6'],
  ])('%j', (mesh, words) => {
    expect(meshWords(mesh)).toBe(words);
  });

  it('are others where other experts are elsewhere, and the same at each load', () => {
    const lists = [
      [{ layer: 1 }, { layer: 4 }],
      [{ layer: 2 }, { layer: 4 }],
      [{ layer: 1, experts: [0, 2] }, { layer: 4 }],
      [{ layer: 1, experts: [0, 3] }, { layer: 4 }],
      [{ layer: 2, experts: [0, 2] }, { layer: 4 }],
      [{ layer: 1 }, { layer: 4, experts: [0, 2] }],
    ];
    const words = lists.map((served) => meshWords(row(served)));
    for (const each of words) expect(each).toMatch(/^layers 6 \+ experts of 2 \((some of 1, )?[0-9a-f]{8}\)$/);
    expect(new Set(words).size).toBe(lists.length);
    expect(lists.map((served) => meshWords(row(structuredClone(served))))).toEqual(words);
  });
});
