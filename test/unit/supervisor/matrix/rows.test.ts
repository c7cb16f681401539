// What the matrix says of its measurements: tables of cells and what they must lead to.
import { describe, expect, it } from 'vitest';
import { matrixRow } from '../../../../electron/contract/models';
import type { MatrixCell } from '../../../../electron/store/types';
import { matrixMarkdown } from '../../../../electron/supervisor/matrix/markdown';
import { bucketOf, isWorse, matrixRows, median, regressionOf } from '../../../../electron/supervisor/matrix/rows';

const cell = (fields: Partial<MatrixCell> = {}): MatrixCell => ({
  model: 'm',
  modelId: 'id-1',
  engineBuild: 'one',
  device: 'cpu/avx2 fast',
  kvType: 'f16',
  contextBucket: 512,
  source: 'check',
  samples: { decodeTps: [100], prefillTps: [500], memoryBytes: [1000], ttftMs: [50] },
  selfCheck: 'passed',
  at: 1,
  ...fields,
});
const newer = (fields: Partial<MatrixCell> = {}) => cell({ engineBuild: 'two', at: 2, ...fields });
const many = (value: number, count = 8) => Array.from({ length: count }, () => value);

describe('buckets and medians', () => {
  it.each([
    [1, 512],
    [512, 512],
    [513, 2048],
    [32_769, 131_072],
    [9_999_999, 131_072],
  ])('%i tokens are counted up to %i', (tokens, bucket) => expect(bucketOf(tokens)).toBe(bucket));

  it.each([
    [[], undefined],
    [[3], 3],
    [[1, 100], 50.5],
    [[9, 1, 5], 5],
  ])('the median of %j is %s', (values, expected) => expect(median(values)).toBe(expected));
});

describe('worse', () => {
  it.each([
    ['decodeTps', 86, 100, false],
    ['decodeTps', 84, 100, true],
    ['decodeTps', 300, 100, false],
    ['prefillTps', 84, 100, true],
    ['ttftMs', 114, 100, false],
    ['ttftMs', 116, 100, true],
    ['memoryBytes', 109, 100, false],
    ['memoryBytes', 111, 100, true],
    ['memoryBytes', 10, 100, false],
  ] as const)('%s of %i after %i: %s', (measure, now, good, expected) => {
    expect(isWorse(measure, now, good)).toBe(expected);
  });

  it.each<[string, MatrixCell[], string[]]>([
    ['alone', [newer()], []],
    ['as fast as before', [cell(), newer()], []],
    ['slower', [cell(), newer({ samples: { decodeTps: [80] } })], ['decodeTps']],
    ['more memory', [cell(), newer({ samples: { memoryBytes: [1200] } })], ['memoryBytes']],
    ['other tokens', [cell(), newer({ selfCheck: 'changed' })], ['tokens']],
    ['not the same twice', [newer({ selfCheck: 'failed' })], ['tokens']],
    ['on another device', [cell({ device: 'vulkan' }), newer({ samples: { decodeTps: [80] } })], []],
    ['at another length', [cell({ contextBucket: 2048 }), newer({ samples: { decodeTps: [80] } })], []],
    ['with another KV type', [cell({ kvType: 'q8' }), newer({ samples: { decodeTps: [80] } })], []],
    ['use against a check', [cell(), newer({ source: 'use', samples: { decodeTps: many(10) } })], []],
    ['a new version of the model', [cell(), newer({ modelId: 'id-2', samples: { decodeTps: [80] } })], ['decodeTps']],
    ['another model', [cell(), newer({ modelId: 'id-2', model: 'n', samples: { decodeTps: [80] } })], []],
    [
      'few answers in use',
      [
        cell({ source: 'use', samples: { decodeTps: many(100) } }),
        newer({ source: 'use', samples: { decodeTps: many(50, 7) } }),
      ],
      [],
    ],
    [
      'enough answers in use',
      [
        cell({ source: 'use', samples: { decodeTps: many(100) } }),
        newer({ source: 'use', samples: { decodeTps: many(50) } }),
      ],
      ['decodeTps'],
    ],
    [
      'the time to the first token in use',
      [
        cell({ source: 'use', samples: { ttftMs: many(100) } }),
        newer({ source: 'use', samples: { ttftMs: many(500) } }),
      ],
      [],
    ],
  ])('%s', (_name, cells, expected) => expect(matrixRows(cells)[0]?.regressions).toEqual(expected));

  const load = (fields: Partial<MatrixCell>) => cell({ contextBucket: 0, source: 'use', selfCheck: 'none', ...fields });

  it.each<[string, MatrixCell[], string[]]>([
    [
      'much slower',
      [
        load({ samples: { loadMs: [2000, 2000, 2000] } }),
        load({ engineBuild: 'two', at: 2, samples: { loadMs: [4000, 4000, 4000] } }),
      ],
      ['loadMs'],
    ],
    [
      'once from a cold disk',
      [
        load({ samples: { loadMs: [2000, 2000, 2000] } }),
        load({ engineBuild: 'two', at: 2, samples: { loadMs: [9000, 2000, 2000] } }),
      ],
      [],
    ],
    [
      'slower twice, of two',
      [
        load({ samples: { loadMs: [2000, 2000, 2000] } }),
        load({ engineBuild: 'two', at: 2, samples: { loadMs: [9000, 9000] } }),
      ],
      [],
    ],
    [
      'slower by what nobody notices',
      [
        load({ samples: { loadMs: [100, 100, 100] } }),
        load({ engineBuild: 'two', at: 2, samples: { loadMs: [900, 900, 900] } }),
      ],
      [],
    ],
  ])('a load that is %s', (_name, cells, expected) => expect(matrixRows(cells)[0]?.regressions).toEqual(expected));

  it('a load that got worse is told where the model was used since, with what it was better with', () => {
    const rows = matrixRows([
      load({ samples: { loadMs: [2000, 2000, 2000] } }),
      load({ engineBuild: 'two', at: 2, samples: { loadMs: [9000, 9000, 9000] } }),
      newer({ at: 3 }),
    ]);
    expect(
      rows.map(({ engineBuild, contextBucket, regressions }) => [engineBuild, contextBucket, regressions]),
    ).toEqual([
      ['two', 512, ['loadMs']],
      ['one', 0, []],
    ]);
    const place = { modelId: 'id-1', device: 'cpu/avx2 fast', kvType: 'f16', engineBuild: 'two' };
    expect(regressionOf(rows, place)).toEqual({
      measures: ['loadMs'],
      good: { engineBuild: 'one', modelId: 'id-1', at: 1 },
    });
  });

  it('a bad row is no measure for the next one', () => {
    const rows = matrixRows([
      cell(),
      newer({ samples: { decodeTps: [80] } }),
      cell({ engineBuild: 'three', at: 3, samples: { decodeTps: [82] } }),
    ]);
    // 82 would be fine after 80: it is measured against the 100 of the last good one.
    expect(rows.map(({ regressions }) => regressions)).toEqual([['decodeTps'], ['decodeTps'], []]);
  });
});

describe('rows', () => {
  it('the load stands beside what was measured, and alone where nothing was', () => {
    const load = { contextBucket: 0, source: 'use' as const, selfCheck: 'none' as const };
    const rows = matrixRows([
      cell(),
      cell({ ...load, samples: { loadMs: [100, 300] } }),
      cell({ ...load, modelId: 'other', samples: { loadMs: [7] } }),
    ]);
    expect(rows.map(({ modelId, contextBucket, loadMs }) => [modelId, contextBucket, loadMs])).toEqual([
      ['other', 0, 7],
      ['id-1', 512, 200],
    ]);
  });

  it('what goes to clients is what the contract says', () => {
    for (const row of matrixRows([cell({ kl: 0.001 }), newer({ samples: {} })]))
      expect(matrixRow.parse(row)).toEqual(row);
  });

  it('a loaded model is told what got worse and what it was better with', () => {
    const rows = matrixRows([
      cell(),
      newer({ samples: { decodeTps: [80] } }),
      newer({ source: 'use', at: 3, selfCheck: 'changed', samples: {} }),
    ]);
    const place = { modelId: 'id-1', device: 'cpu/avx2 fast', kvType: 'f16' };
    expect(regressionOf(rows, { ...place, engineBuild: 'two' })).toEqual({
      measures: ['tokens', 'decodeTps'],
      good: { engineBuild: 'one', modelId: 'id-1', at: 1 },
    });
    expect(regressionOf(rows, { ...place, engineBuild: 'one' })).toBeUndefined();
    expect(regressionOf(rows, { ...place, engineBuild: 'three' })).toBeUndefined();
  });
});

describe('Markdown', () => {
  it('a name cannot break the table', () => {
    const lines = matrixMarkdown(matrixRows([cell({ model: 'a|b\n| c | `x`' })]))
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(3);
    const columns = (line = '') => line.split(/(?<!\\)\|/).length;
    expect(columns(lines[2])).toBe(columns(lines[0]));
  });
});
