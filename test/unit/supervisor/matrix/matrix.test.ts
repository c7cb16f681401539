// The matrix over a real database and a model from a script: what a check leads to, and what use does.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../../../electron/contract/errors';
import type { GenerationEvent, Loaded } from '../../../../electron/contract/runtime';
import { createMatrix, valuesOf, type Matrix } from '../../../../electron/supervisor/matrix/matrix';
import { ANSWER_TOKENS, PROMPT_SET } from '../../../../electron/supervisor/matrix/prompts';
import type { GenerateWork, Supervisor } from '../../../../electron/supervisor/types';
import { modelInfo, timings, usage } from '../../server/fake-supervisor';
import { directStore } from '../../server/harness';
import { temporaryFolder } from '../../store/samples';

const loadedAs = (fields: Partial<Loaded> = {}): Loaded => ({
  model: modelInfo('m'),
  abilities: { chat: true, reasoning: false, tools: false, harmony: false },
  context: 4096,
  kernels: 'cpu/avx2',
  precision: 'fast',
  engineBuild: 'one',
  defaultTemperature: 1,
  loadMs: 20,
  ...fields,
});

interface Model {
  loaded: Loaded;
  tokens(text: string, call: number): number[];
  decodeTps: number;
  exactFails?: boolean;
}

type Call = Supervisor['call'];

/** A supervisor of one model that answers as `model` says. */
function scripted(model: Model) {
  let calls = 0;
  const call = (async (_ref: unknown, method: string) => {
    if (method === 'tokenize') return { tokens: Array.from({ length: 60 }, (_, i) => i) };
    if (method === 'logits') return { logits: [1, 2, 3] };
    return { prefillTps: 500, decodeTps: model.decodeTps, ttftMs: 9, peakAnonBytes: 1e6 };
  }) as unknown as Call;
  const supervisor = {
    load: async () => model.loaded,
    async *generate(_ref: unknown, work: GenerateWork): AsyncGenerator<GenerationEvent, void> {
      const text = work.input.kind === 'text' ? work.input.text : '';
      const tokenIds = model.tokens(text, calls++).slice(0, work.maxTokens);
      yield { kind: 'parts', id: 'x', index: 0, tokenIds, parts: [] };
      yield { kind: 'end', id: 'x', reason: 'length', usage, timings };
    },
    call,
  };
  const exact = () => ({
    call: (async () => {
      if (model.exactFails) throw new HearthError('out_of_ram', 'No room.');
      return { logits: [1, 2, 3] };
    }) as unknown as Call,
    close: async () => undefined,
  });
  return { supervisor, exact };
}

function open(model: Model) {
  const store = directStore(join(temporaryFolder(), 'hearth.db'));
  let at = 1000;
  const matrix = createMatrix({ store, ...scripted(model), now: () => at++ });
  return { store, matrix };
}

const honest: Model['tokens'] = (text) => Array.from({ length: 99 }, (_, i) => text.length + i);
const ref = { name: 'm', path: '/m.gguf' };
const check = (matrix: Matrix, accept = false) => matrix.check(ref, accept).done;

describe('a check', () => {
  it('the first one records, later ones compare', async () => {
    const model: Model = { loaded: loadedAs(), tokens: honest, decodeTps: 50 };
    const { matrix, store } = open(model);
    const first = await check(matrix);
    expect(first).toMatchObject({
      state: 'done',
      recorded: true,
      row: {
        selfCheck: 'passed',
        kl: 0,
        decodeTps: 50,
        prefillTps: 500,
        loadMs: 20,
        contextBucket: 512,
        source: 'check',
      },
    });
    expect(await check(matrix)).toMatchObject({ recorded: false, row: { selfCheck: 'passed', regressions: [] } });

    model.tokens = (text, call) => honest(text, call).map((token, i) => token + Number(i === ANSWER_TOKENS - 1));
    expect(await check(matrix)).toMatchObject({ row: { selfCheck: 'changed', regressions: ['tokens'] } });
    // Nothing was recorded over: it is still changed the next time, and only the user's word takes it.
    expect(await check(matrix)).toMatchObject({ row: { selfCheck: 'changed' } });
    expect(matrix.regression(model.loaded)?.measures).toEqual(['tokens']);
    expect(await check(matrix, true)).toMatchObject({ row: { selfCheck: 'passed', regressions: [] } });
    expect(await check(matrix)).toMatchObject({ row: { selfCheck: 'passed' } });
    expect(matrix.regression(model.loaded)).toBeUndefined();
    const key = { modelId: model.loaded.model.modelId, device: 'cpu/avx2 fast', kvType: 'f16', prompts: PROMPT_SET };
    expect(Object.keys((await store.expectedTokens(key))?.hashes ?? {})).toContain('prose');
  });

  it('a model that answers differently in company has failed, and is not recorded', async () => {
    const model: Model = {
      loaded: loadedAs(),
      tokens: (text, call) => honest(text, 0).map((t) => t + Math.floor(call / 6)),
      decodeTps: 50,
    };
    const { matrix } = open(model);
    expect(await check(matrix)).toMatchObject({
      recorded: false,
      row: { selfCheck: 'failed', regressions: ['tokens'] },
    });
  });

  it('no room for the exact path costs the comparison and not the check', async () => {
    const { matrix } = open({ loaded: loadedAs(), tokens: honest, decodeTps: 50, exactFails: true });
    const result = await check(matrix);
    expect(result).toMatchObject({ state: 'done', exactError: { code: 'out_of_ram' }, row: { selfCheck: 'passed' } });
    expect(result.row).not.toHaveProperty('kl');
  });

  it('a slower build is told at its load, with the build to go back to', async () => {
    const model: Model = { loaded: loadedAs(), tokens: honest, decodeTps: 50 };
    const { matrix } = open(model);
    await check(matrix);
    model.loaded = loadedAs({ engineBuild: 'two' });
    model.decodeTps = 40;
    await check(matrix);
    expect(matrix.regression(model.loaded)).toMatchObject({ measures: ['decodeTps'], good: { engineBuild: 'one' } });
    expect(matrix.regression(loadedAs())).toBeUndefined();
  });

  it('a model that does not load is a failed check, and the next one runs', async () => {
    const model: Model = { loaded: loadedAs(), tokens: honest, decodeTps: 50 };
    const { supervisor, exact } = scripted(model);
    const store = directStore(join(temporaryFolder(), 'hearth.db'));
    let broken = true;
    const load = async () => {
      if (broken) throw new HearthError('bad_file', 'It is damaged.');
      return model.loaded;
    };
    const matrix = createMatrix({ store, exact, supervisor: { ...supervisor, load } });
    expect(await check(matrix)).toMatchObject({ state: 'failed', error: { code: 'bad_file' } });
    broken = false;
    const { now, done } = matrix.check(ref, false);
    expect(now.state).toBe('running');
    expect(() => matrix.check(ref, false)).toThrow(/already/);
    expect((await done).state).toBe('done');
  });
});

describe('use', () => {
  const end = (fields: object = {}): Parameters<Matrix['answered']>[2] => ({
    kind: 'end',
    id: 'x',
    reason: 'stop',
    usage: { ...usage, promptTokens: 300, cachedTokens: 0, completionTokens: 100 },
    timings: { ...timings, prefillTps: 400, decodeTps: 30 },
    ...fields,
  });

  it.each([
    ['a whole answer', 300, 0, 100, ['decodeTps', 'prefillTps', 'ttftMs']],
    ['a short prompt', 100, 0, 100, ['decodeTps']],
    ['a prompt from the cache', 300, 290, 100, ['decodeTps']],
    ['a word', 300, 0, 3, ['prefillTps', 'ttftMs']],
    ['nothing', 3, 0, 1, []],
  ])('%s says only what it can', (_name, promptTokens, cachedTokens, completionTokens, names) => {
    const values = valuesOf(end({ usage: { promptTokens, cachedTokens, completionTokens, reasoningTokens: 0 } }));
    expect(Object.keys(values).sort()).toEqual(names);
  });

  it('answers fill a row, but not those in company, cut off or failed', async () => {
    const { matrix } = open({ loaded: loadedAs(), tokens: honest, decodeTps: 50 });
    const loaded = loadedAs();
    matrix.loaded('m', loaded);
    expect((await matrix.rows()).map(({ contextBucket, loadMs }) => [contextBucket, loadMs])).toEqual([[0, 20]]);
    matrix.answered('m', loaded, end(), false);
    matrix.answered('m', loaded, end({ reason: 'cancelled' }), true);
    matrix.answered('m', loaded, end({ reason: 'error' }), true);
    expect((await matrix.rows())[0]?.contextBucket).toBe(0);
    for (const decodeTps of [20, 30, 70])
      matrix.answered('m', loaded, end({ timings: { ...timings, decodeTps } }), true);
    expect(await matrix.rows()).toMatchObject([
      { contextBucket: 512, decodeTps: 30, loadMs: 20, source: 'use', selfCheck: 'none' },
    ]);
  });
});
