// Failures prevented: a division that is read as another one, or nonsense that reaches the engine.
import { describe, expect, it } from 'vitest';
import { meshOf } from '../../../electron/cli/mesh';

const card = `vulkan:${'ab'.repeat(16)}`;
const rank = { threads: 0, share: 1, layers: 0 };

describe('--mesh', () => {
  it.each([
    [
      'tensor:cpu,cpu',
      {
        split: 'tensor',
        ranks: [
          { ...rank, device: 'cpu' },
          { ...rank, device: 'cpu' },
        ],
        served: [],
      },
    ],
    [
      `handover:${card},cpu`,
      {
        split: 'handover',
        ranks: [
          { ...rank, device: card },
          { ...rank, device: 'cpu' },
        ],
        served: [],
      },
    ],
    [
      `tensor:${card}=2.5,cpu`,
      {
        split: 'tensor',
        ranks: [
          { ...rank, device: card, share: 2.5 },
          { ...rank, device: 'cpu' },
        ],
        served: [],
      },
    ],
    [
      `layers:${card}=20,cpu=4`,
      {
        split: 'layers',
        ranks: [
          { ...rank, device: card, layers: 20 },
          { ...rank, device: 'cpu', layers: 4 },
        ],
        served: [],
      },
    ],
    [
      `layers:${card}+0,4-6`,
      { split: 'layers', ranks: [{ ...rank, device: card }], served: [0, 4, 5, 6].map((layer) => ({ layer })) },
    ],
    [
      `layers:${card}+0,4-5:0-2:7`,
      {
        split: 'layers',
        ranks: [{ ...rank, device: card }],
        served: [{ layer: 0 }, { layer: 4, experts: [0, 1, 2, 7] }, { layer: 5, experts: [0, 1, 2, 7] }],
      },
    ],
  ])('%s', (text, want) => {
    expect(meshOf(text)).toEqual(want);
  });

  it.each([
    '',
    'cpu',
    'tensor:',
    'tensor:gpu',
    'layers:cpu=1.5',
    'tensor:cpu=0',
    'tensor:cpu=x',
    'layers:cpu+',
    'layers:cpu+-',
    'layers:cpu+7-4',
    'layers:cpu+7:',
    'layers:cpu+7:4-1',
    'layers:cpu+:4',
    'layers:cpu+0-99999',
    'rows:cpu,cpu',
    `tensor:${'cpu,'.repeat(8)}cpu`,
  ])('refuses %j', (text) => {
    expect(meshOf(text)).toBeUndefined();
  });
});
