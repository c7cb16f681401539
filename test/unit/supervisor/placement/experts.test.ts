// Failures prevented: the experts that every token wants in the slow memory, a way there and back for each layer where one would do, and
// more on a card than it has room for.
import { describe, expect, it } from 'vitest';
import type { ServedLayer } from '../../../../electron/contract/runtime';
import { keep, type Kept } from '../../../../electron/supervisor/placement/experts';
import { sizesOf, total, type Heat, type Sizes } from '../../../../electron/supervisor/placement/sizes';
import { planFor } from '../plans';

const EXPERTS = 4;

/** Layers of four experts of 10 bytes; the last numbers are dense layers. */
function sizes(layers: number, heat?: Heat, dense: number[] = [], before: ServedLayer[] = []): Sizes {
  const plan = planFor('m', 1, { layers, experts: EXPERTS, expertsUsed: 1 });
  const each = Array.from({ length: layers }, (_, layer) => ({
    shared: 1,
    experts: dense.includes(layer) ? 0 : 10 * EXPERTS,
    group: 0,
  }));
  return sizesOf({ ...plan, parts: { ...plan.parts, layers: each } }, 1024, 'f16', { heat, before });
}

/** Seconds of what is read elsewhere, and of each way there and back. */
const taking = (all: number, way: number) => (reads: number, layers: number) => all - reads + way * layers;
const keptOf = (of: Sizes, bytes: number, way = 0): Kept =>
  keep(of, { first: 0, count: of.layers.length, bytes }, taking(total(of.layers.map(({ experts }) => experts)), way));
const hot = (...uses: number[]) => uses;

describe('experts that stay', () => {
  it.each<[string, Sizes, number, number, Pick<Kept, 'experts' | 'bytes' | 'served'>]>([
    ['all where there is room', sizes(3, [hot(9, 1, 1, 1)]), 120, 0, { experts: 12, bytes: 120, served: [] }],
    [
      'of unknown use are those of the first layers, whole',
      sizes(3),
      119,
      0,
      { experts: 8, bytes: 80, served: [{ layer: 2 }] },
    ],
    ['none where there is no room', sizes(2), 0, 0, { experts: 0, bytes: 0, served: [{ layer: 0 }, { layer: 1 }] }],
    [
      'pass over layers that have none',
      sizes(3, undefined, [1]),
      79,
      0,
      { experts: 4, bytes: 40, served: [{ layer: 2 }] },
    ],
    [
      'are the most used ones of all layers where ways cost nothing',
      sizes(2, [hot(9, 9, 1, 1), hot(1, 9, 1, 9)]),
      40,
      0,
      {
        experts: 4,
        bytes: 40,
        served: [
          { layer: 0, experts: [2, 3] },
          { layer: 1, experts: [0, 2] },
        ],
      },
    ],
    [
      'are whole layers where a way costs more than the cold ones are worth',
      sizes(2, [hot(9, 9, 1, 1), hot(1, 9, 1, 9)]),
      40,
      100,
      { experts: 4, bytes: 40, served: [{ layer: 1 }] },
    ],
    [
      'of the layers that are used least evenly make room first',
      sizes(2, [hot(6, 5, 5, 4), hot(97, 1, 1, 1)]),
      50,
      8,
      { experts: 5, bytes: 50, served: [{ layer: 1, experts: [1, 2, 3] }] },
    ],
    [
      'are those of a layer whole where nobody counted it',
      sizes(2, [undefined, hot(97, 1, 1, 1)]),
      50,
      0,
      { experts: 5, bytes: 50, served: [{ layer: 1, experts: [1, 2, 3] }] },
    ],
    [
      'are never some of a layer that nobody counted',
      sizes(2, [undefined, hot(97, 1, 1, 1)]),
      30,
      0,
      { experts: 3, bytes: 30, served: [{ layer: 0 }, { layer: 1, experts: [3] }] },
    ],
    [
      'are none of a layer of which only the coldest would go',
      sizes(1, [hot(0, 0, 0, 0)]),
      20,
      0,
      { experts: 0, bytes: 0, served: [{ layer: 0 }] },
    ],
  ])('are %s', (_, of, bytes, way, want) => {
    const { reads: _reads, ...kept } = keptOf(of, bytes, way);
    expect(kept).toEqual(want);
  });

  describe('after another load', () => {
    const heat = [hot(40, 30, 21, 20), hot(40, 30, 20, 21)];
    const before: ServedLayer[] = [
      { layer: 0, experts: [2, 3] },
      { layer: 1, experts: [2, 3] },
    ];

    it.each<[string, Heat, ServedLayer[], number, ServedLayer[]]>([
      [
        'are the same where others would save next to nothing',
        [hot(40, 30, 31, 20), hot(40, 30, 20, 21)],
        before,
        40,
        before,
      ],
      ['are the same where there is a little more room than they need', heat, before, 49, before],
      [
        'are others where those are used more',
        [hot(1, 9, 90, 1), hot(40, 30, 20, 21)],
        before,
        40,
        [
          { layer: 0, experts: [0, 1, 3] },
          { layer: 1, experts: [2] },
        ],
      ],
      [
        'are fewer where they no longer fit',
        heat,
        before,
        39,
        [
          { layer: 0, experts: [2, 3] },
          { layer: 1, experts: [1, 2, 3] },
        ],
      ],
      ['are all where there is room for all', heat, before, 80, []],
      [
        'are no whole layers any more where it is known what is used',
        heat,
        [{ layer: 1 }],
        40,
        [
          { layer: 0, experts: [2, 3] },
          { layer: 1, experts: [2, 3] },
        ],
      ],
    ])('%s', (_, uses, served, bytes, want) => {
      expect(keptOf(sizes(2, uses, [], served), bytes).served).toEqual(want);
    });
  });

  it('stand for what tokens read of them', () => {
    expect(keptOf(sizes(1, [hot(7, 1, 1, 1)]), 10).reads).toBeCloseTo(28, 9);
    expect(keptOf(sizes(1), 40).reads).toBe(40);
  });

  it('are no worse than whole layers in order, fit, and are all told', () => {
    let seed = 1;
    const draw = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 200; round += 1) {
      const layers = 1 + Math.floor(draw() * 8);
      const heat = Array.from({ length: layers }, () =>
        draw() < 0.3 ? undefined : Array.from({ length: EXPERTS }, () => draw() ** 3),
      );
      const [bytes, way] = [draw() * 40 * layers, draw() * 20];
      const kept = keptOf(sizes(layers, heat), bytes, way);
      const seconds = ({ reads, served }: Kept) => taking(40 * layers, way)(reads, served.length);
      expect(seconds(kept)).toBeLessThanOrEqual(seconds(keptOf(sizes(layers), bytes, way)) + 1e-9);
      expect(kept.bytes).toBeLessThanOrEqual(bytes);
      const gone = total(kept.served.map(({ experts }) => experts?.length ?? EXPERTS));
      expect(kept.experts + gone).toBe(EXPERTS * layers);
      for (const { layer, experts = [] } of kept.served) {
        expect(experts).toEqual([...new Set(experts)].sort((one, two) => one - two));
        if (experts.length > 0) expect(heat[layer]).toBeDefined();
      }
    }
  });
});
