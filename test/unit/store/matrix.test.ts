// The matrix and the remote engines in the database: bounded, and nothing lost that must be kept.
import { describe, expect, it } from 'vitest';
import { KEPT_CELLS, KEPT_SAMPLES } from '../../../electron/store/matrix';
import type { MatrixSample } from '../../../electron/store/types';
import { temporaryStore } from './samples';

const sample = (fields: Partial<MatrixSample> = {}): MatrixSample => ({
  model: 'm',
  modelId: 'id',
  engineBuild: 'b',
  device: 'cpu',
  kvType: 'f16',
  contextBucket: 512,
  source: 'use',
  values: { decodeTps: 10 },
  at: 1,
  ...fields,
});

describe('the matrix', () => {
  it('a cell keeps its latest values, and what a sample leaves out', async () => {
    const store = await temporaryStore();
    await store.addToMatrix(sample({ selfCheck: 'passed', kl: 0.5, values: { prefillTps: 7 } }));
    for (let at = 2; at < 50; at++) await store.addToMatrix(sample({ at, values: { decodeTps: at } }));
    const [cell, ...others] = await store.matrixCells();
    expect(others).toEqual([]);
    expect(cell).toMatchObject({ selfCheck: 'passed', kl: 0.5, at: 49 });
    expect(cell?.samples.prefillTps).toEqual([7]);
    expect(cell?.samples.decodeTps).toEqual(Array.from({ length: KEPT_SAMPLES }, (_, i) => 50 - KEPT_SAMPLES + i));
  });

  it('a value that is no number is not kept', async () => {
    const store = await temporaryStore();
    await store.addToMatrix(sample({ values: { decodeTps: NaN, ttftMs: Infinity } }));
    expect((await store.matrixCells())[0]?.samples).toEqual({});
  });

  it('the table does not grow without bound: the oldest cells go', async () => {
    const store = await temporaryStore();
    await Promise.all(
      Array.from({ length: KEPT_CELLS + 20 }, (_, at) => store.addToMatrix(sample({ at, engineBuild: `b${at}` }))),
    );
    const cells = await store.matrixCells();
    expect(cells).toHaveLength(KEPT_CELLS);
    expect(cells[0]?.at).toBe(KEPT_CELLS + 19);
  });

  it('expected tokens belong to one artifact on one device', async () => {
    const store = await temporaryStore();
    const key = { modelId: 'id', device: 'cpu', kvType: 'f16', prompts: 'v1' };
    await store.setExpectedTokens({ ...key, hashes: { a: 'x' }, engineBuild: 'b', at: 3 });
    expect(await store.expectedTokens(key)).toEqual({ ...key, hashes: { a: 'x' }, engineBuild: 'b', at: 3 });
    expect(await store.expectedTokens({ ...key, device: 'gpu' })).toBeUndefined();
    expect(await store.expectedTokens({ ...key, prompts: 'v2' })).toBeUndefined();
  });
});

describe('remote engines', () => {
  it('a key comes back to its client, a name is used once', async () => {
    const store = await temporaryStore();
    const engine = { id: '1', name: 'lab', url: 'http://10.0.0.2:8000/v1', key: 'secret', createdAt: 5 };
    await store.addRemoteEngine(engine);
    await store.addRemoteEngine({ id: '2', name: 'other', url: 'http://x/v1', createdAt: 6 });
    expect((await store.remoteEngines())[0]).toEqual(engine);
    expect((await store.remoteEngines())[1]).not.toHaveProperty('key');
    await expect(store.addRemoteEngine({ ...engine, id: '3' })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await store.removeRemoteEngine('1')).toBe(true);
    expect(await store.removeRemoteEngine('1')).toBe(false);
    expect(await store.remoteEngines()).toHaveLength(1);
  });
});
