// `hearth bench`: how fast a model reads and writes here, and how near that is to what the machine can do. Every length is read by every
// number of sequences, several times over; what a case says is bench-report.ts.
import type { BenchResult, MachineLimits, Mesh } from '../contract/runtime';
import type { Engine, ModelRef } from '../app';
import { summarise, words, type BenchCase, type BenchRow } from './bench-report';
import { modelRef, precisionOf, showLoading, withEngine } from './engine';
import { json, type Io } from './report';

export interface BenchOptions {
  prefill: number[];
  decode: number;
  sequences: number[];
  repeat: number;
  threads?: number;
  kv?: 'f16' | 'q8';
  device?: string;
  mesh?: Mesh;
  exact?: boolean;
  json?: boolean;
  dataDir?: string;
}

/** Read and written once before anything counts: the first pass over a mapped file brings its pages in. */
const WARM_UP: BenchCase = { prefill: 64, decode: 4, sequences: 1 };

export async function bench(model: string, options: BenchOptions, io: Io): Promise<void> {
  const { threads, kv, device, mesh, exact, dataDir } = options;
  await withEngine(
    { load: { precision: precisionOf(exact), threads, kvType: kv, device: device ?? (mesh && 'cpu'), mesh }, dataDir },
    async (engine) => {
      const ref = await modelRef(engine, model);
      const done = showLoading(engine, io);
      const { loadMs, kernels, device } = await engine.supervisor.load(ref);
      done();
      await engine.supervisor.call(ref, 'bench', WARM_UP);
      const rows: BenchRow[] = [];
      for (const asked of cases(options)) rows.push(await measure(engine, ref, asked, { ...options, device }));
      if (options.json) json(io, { kernels, load_ms: loadMs, measurements: rows });
      else io.out(words(rows, loadMs, kernels));
    },
  );
}

function cases({ prefill, decode, sequences }: BenchOptions): BenchCase[] {
  return sequences.flatMap((together) => prefill.map((length) => ({ prefill: length, decode, sequences: together })));
}

/** Between two looks at the machine's limits, so that a bad phase of it is seen. */
async function measure(
  { supervisor }: Engine,
  ref: ModelRef,
  asked: BenchCase,
  { repeat, threads = 0, device = 'cpu' }: BenchOptions,
): Promise<BenchRow> {
  const look = () => supervisor.call(ref, 'limits', { threads, ...(device.startsWith('vulkan') && { device }) });
  const limits: MachineLimits[] = [await look()];
  const results: BenchResult[] = [];
  for (let i = 0; i < repeat; i++) results.push(await supervisor.call(ref, 'bench', asked));
  limits.push(await look());
  return summarise(asked, results, limits);
}
