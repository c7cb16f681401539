// What the page says and offers about models, where a wrong word would mislead: fit, packing, budget, downloads, addresses of other computers, and what a failed load offers.
import type { Download, Fit, LoadChoice } from '@contract/models';
import type { AppState, ModelEntry } from '@contract/own';
import { describe, expect, it } from 'vitest';
import { paceOf, phaseOf, trayWords } from '../../../renderer/downloads/downloadWords';
import { t } from '../../../renderer/i18n';
import { budgetOf, withContext } from '../../../renderer/load/budget';
import { failureAction } from '../../../renderer/model/failure';
import { fitWords, paceWords } from '../../../renderer/model/fitWords';
import { isBroken } from '../../../renderer/model/modelWords';
import { nowOf } from '../../../renderer/model/nowWords';
import { bitsOf } from '../../../renderer/model/packing';
import { groupModels } from '../../../renderer/model/pickerGroups';
import { span, wordsPerSecond } from '../../../renderer/parts/format';
import { engineRequest, sendsKeyInTheOpen } from '../../../renderer/remote/engineAddress';
import { engineSign } from '../../../renderer/shell/StatusBar';
import { withLoad } from '../../../renderer/state/modelActions';

const GB = 1e9;
const fit = (change: Partial<Fit> = {}): Fit => ({
  verdict: 'fits',
  context: 8192,
  weightBytes: 12 * GB,
  kvBytes: 1 * GB,
  scratchBytes: 0.5 * GB,
  otherBytes: 6 * GB,
  freeBytes: 18 * GB,
  totalBytes: 24 * GB,
  spareBytes: 4.5 * GB,
  device: 'ram',
  measured: false,
  ...change,
});

describe('fit in words', () => {
  it.each([
    [{}, 'Fits, 4.5 GB to spare'],
    [{ verdict: 'tight', spareBytes: 0.4 * GB }, 'Tight, 400 MB to spare'],
    [{ verdict: 'tight', spareBytes: -2 * GB }, 'Tight, 2.0 GB more than is free'],
    [{ verdict: 'too_big', spareBytes: -22 * GB }, 'Too big by 22 GB'],
    [{ verdict: 'unknown' }, 'Not known yet'],
  ] as [Partial<Fit>, string][])('%j', (change, words) => expect(fitWords(t, fit(change), 'en')).toBe(words));

  it('claims a measurement only where there was one', () => {
    expect(paceWords(t, fit({ decodeTps: 12 }), 'en')).toBe('about 9 words a second');
    expect(paceWords(t, fit({ decodeTps: 12, measured: true }), 'en')).toBe('9 words a second, measured here');
    expect(paceWords(t, fit(), 'en')).toBeUndefined();
    expect(wordsPerSecond(2, 'en')).toBe('1.5');
  });
});

describe('the budget', () => {
  it('fills the bar exactly and leaves what is free', () => {
    const { parts, end } = budgetOf(fit());
    expect(parts.map(({ name }) => name)).toEqual(['other', 'weights', 'conversation', 'working', 'free']);
    expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(end).toBe(1);
  });

  it('marks where the memory ends when more is wanted, and shows nothing free', () => {
    const { parts, end } = budgetOf(fit({ weightBytes: 40 * GB }));
    expect(parts.some(({ name }) => name === 'free')).toBe(false);
    expect(end).toBeCloseTo(24 / 47.5);
    expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });

  const choice = (context: number, kvBytes: number, kvType: 'f16' | 'q8' = 'f16'): LoadChoice => ({
    id: 'balanced',
    context,
    kvType,
    fit: fit({ context, kvBytes }),
  });

  it('follows another context along two plans, with what every conversation costs at least', () => {
    const exact = withContext(choice(8192, 1.2 * GB), [choice(32_768, 3.6 * GB)], 16_384);
    expect(exact.fit.kvBytes).toBeCloseTo(2.0 * GB);
    expect(exact.fit.spareBytes).toBeCloseTo(3.7 * GB);
  });

  it('does not mix two kinds of memory', () => {
    const exact = withContext(choice(8192, 1 * GB), [choice(32_768, 1 * GB, 'q8')], 16_384);
    expect(exact.fit.kvBytes).toBeCloseTo(2 * GB);
  });

  it('says too big as soon as nothing remains', () => {
    expect(withContext(choice(8192, 1 * GB), [], 65_536).fit.verdict).toBe('too_big');
    const was = { ...choice(65_536, 8 * GB), fit: fit({ kvBytes: 8 * GB, spareBytes: -2.5 * GB, verdict: 'too_big' }) };
    expect(withContext(was, [], 8192).fit.verdict).toBe('tight');
  });
});

it.each([
  ['MXFP4', 4],
  ['Q4_K_M', 4],
  ['IQ2_XS', 2],
  ['Q8_0', 8],
  ['BF16', 16],
  ['F32', 32],
  ['TQ1_0', 1],
  ['mystery', undefined],
])('%s keeps %s bits of a number', (name, bits) => expect(bitsOf(name)).toBe(bits));

describe('downloads in words', () => {
  const download = (change: Partial<Download>): Download =>
    ({
      id: 'd',
      repo: 'o/m',
      file: 'm.gguf',
      phase: 'fetching',
      doneBytes: 1 * GB,
      totalBytes: 4 * GB,
      bytesPerSecond: 48e6,
      etaMs: 62_000,
      ...change,
    }) as Download;

  it('never speaks of a speed of nothing', () => {
    expect(paceOf(t, download({}), 'en')).toEqual(['48 MB a second', 'about 62 sec left']);
    expect(paceOf(t, download({ phase: 'reconnecting', bytesPerSecond: 0 }), 'en')).toEqual([]);
    expect(paceOf(t, download({ phase: 'paused' }), 'en')).toEqual([]);
  });

  it('says copying of what comes from a disk, and how far a check is', () => {
    expect(phaseOf(t, download({ source: 'disk' }), 'en')).toBe('Copying');
    expect(phaseOf(t, download({}), 'en')).toBe('Fetching');
    expect(phaseOf(t, download({ phase: 'verifying', fraction: 0.4 }), 'en')).toBe('Checking every byte, 40%');
  });

  it.each([
    [[], undefined],
    [[{ phase: 'done' }], undefined],
    [[{}], 'Fetching a model, 25%'],
    [[{}, { doneBytes: 3 * GB }], 'Fetching 2 models, 50%'],
    [[{ phase: 'reconnecting' }], 'Download: reconnecting'],
    [[{ phase: 'paused' }], 'Download paused'],
    [[{}, { phase: 'failed' }], 'A download needs you'],
  ] as [Partial<Download>[], string | undefined][])('tray of %j', (downloads, words) =>
    expect(trayWords(t, downloads.map(download), 'en')).toBe(words),
  );

  it.each([
    [14_000, '14 sec'],
    [200_000, '3 min'],
    [8_000_000, '2 hr'],
  ])('%i ms are %s', (ms, words) => expect(span(ms, 'en')).toBe(words));
});

describe('the address of another computer', () => {
  const request = (url: string, key = '') => engineRequest({ name: '', url, key });
  it.each([
    ['http://10.0.0.7:8000/v1', 'http://10.0.0.7:8000/v1'],
    ['10.0.0.7:8000', 'http://10.0.0.7:8000/v1'],
    ['https://vllm.example.org/', 'https://vllm.example.org/v1'],
    ['https://vllm.example.org/api/v1/', 'https://vllm.example.org/api/v1'],
  ])('%s becomes %s', (typed, url) => expect(request(typed)?.url).toBe(url));

  it.each([
    '',
    'two words',
    'ftp://host/v1',
    'http://user:pass@host/v1',
    'http://host/v1?key=1',
    'javascript:alert(1)',
  ])('%j is refused', (typed) => expect(request(typed)).toBeUndefined());

  it('warns of a key that others could read, and only then', () => {
    expect(sendsKeyInTheOpen({ name: '', url: 'http://10.0.0.7:8000', key: 'k' })).toBe(true);
    expect(sendsKeyInTheOpen({ name: '', url: 'https://10.0.0.7', key: 'k' })).toBe(false);
    expect(sendsKeyInTheOpen({ name: '', url: 'http://127.0.0.1:8000', key: 'k' })).toBe(false);
    expect(sendsKeyInTheOpen({ name: '', url: 'http://10.0.0.7:8000', key: '' })).toBe(false);
  });
});

describe('what is happening to the model', () => {
  const state = (change: Partial<AppState>): AppState =>
    ({ running: 0, waiting: 0, downloads: [], loaded: [], ...change }) as AppState;
  const ready = { name: 'a', state: 'ready' as const };

  it.each([
    [{ active: ready }, undefined],
    [{ active: ready, previous: 'b' }, 'back'],
    [{ active: ready, previous: 'a' }, undefined],
    [{ active: ready, swap: { to: 'b', waiting: 0 } }, 'swap'],
    [{ active: { name: 'a', state: 'loading' } }, 'loading'],
    [{ active: { name: 'a', state: 'failed', error: { code: 'out_of_ram', message: '' } } }, 'failed'],
    [
      { active: ready, failed: { model: 'b', error: { code: 'out_of_ram', message: '' }, at: 1 }, previous: 'b' },
      'failed',
    ],
    [{}, undefined],
  ] as [Partial<AppState>, string | undefined][])('%j', (change, kind) =>
    expect(nowOf(state(change))?.kind).toBe(kind),
  );

  it('names the model that failed and not the one that goes on serving', () => {
    const error = { code: 'out_of_ram' as const, message: '' };
    const failed = { model: 'b', error, at: 1 };
    expect(nowOf(state({ active: ready, failed }))).toEqual({ kind: 'failed', name: 'b', error });
  });

  it('keeps the answering model in front when another is asked for', () => {
    expect(withLoad(state({ active: ready, running: 1 }), 'b')).toMatchObject({ active: ready, swap: { to: 'b' } });
    expect(withLoad(state({ active: ready }), 'b').active).toEqual({ name: 'b', state: 'loading' });
    expect(withLoad(state({ active: ready }), 'a').active).toBe(ready);
    const told = state({ active: ready, running: 1, swap: { to: 'b', waiting: 0, etaMs: 9000 } });
    expect(withLoad(told, 'b')).toBe(told);
  });

  it('tells a model that is started again from one that is loaded', () => {
    const coming = { name: 'a', state: 'loading' as const };
    expect(engineSign(state({ active: coming }), false).word).toBe('status.loading');
    expect(engineSign(state({ active: { ...coming, kernels: 'cpu/avx2' } }), false).word).toBe('status.restarting');
  });

  it('offers what is most likely to help', () => {
    expect(failureAction('out_of_ram')).toBe('smaller');
    expect(failureAction('bad_file')).toBe('find');
    expect(failureAction('runtime_crashed')).toBe('retry');
  });
});

it('a remote model is never among those that lie here', () => {
  const common = { path: '', fileBytes: 0, builtin: false } as const;
  const groups = groupModels(
    [
      { ...common, name: 'far', state: 'ready', remote: 'Cluster' },
      { ...common, name: 'near', state: 'ready' },
    ],
    '',
  );
  expect(groups.map(({ title, models }) => [title, models[0]?.name])).toEqual([
    ['model.inUse', 'near'],
    ['model.remote', 'far'],
  ]);
  expect(groupModels([{ ...common, name: 'far', state: 'ready', remote: 'Cluster' }], 'clus')).toHaveLength(1);
});

it('a file that is not what was published is not offered like one that only failed to load', () => {
  const info = { modelId: 'm' } as ModelEntry['info'];
  const model = { name: 'm', path: '', fileBytes: 0, builtin: false, state: 'failed', info } as const;
  const error = { code: 'bad_file', message: '' } as const;
  expect(isBroken({ ...model, error, verification: { state: 'differs' } })).toBe(true);
  expect(isBroken({ ...model, error, verification: { state: 'hashed' } })).toBe(false);
});
