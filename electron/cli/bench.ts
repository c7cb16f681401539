// `hearth bench`: how fast a model reads and writes here, and how near that is to what the machine can do.
import { modelRef, precisionOf, showLoading, withEngine } from './engine';
import { bytes, json, type Io } from './report';

export interface BenchOptions {
  prefill: number;
  decode: number;
  sequences: number;
  threads?: number;
  exact?: boolean;
  json?: boolean;
  dataDir?: string;
}

export async function bench(model: string, options: BenchOptions, io: Io): Promise<void> {
  const { prefill, decode, sequences, threads, exact, dataDir } = options;
  await withEngine({ load: { precision: precisionOf(exact), threads }, dataDir }, async (engine) => {
    const ref = await modelRef(engine, model);
    const done = showLoading(engine, io);
    const loaded = await engine.supervisor.load(ref);
    done();
    const result = await engine.supervisor.call(ref, 'bench', { prefill, decode, sequences });
    const measured = {
      prefill_tps: result.prefillTps,
      decode_tps: result.decodeTps,
      ttft_ms: result.ttftMs,
      tbt_ms: result.tbtMs,
      load_ms: loaded.loadMs,
      rss_anon_bytes: result.rssAnonBytes,
      fractions: {
        decode_bandwidth: result.fractions.decodeBandwidth,
        prefill_compute: result.fractions.prefillCompute,
      },
    };
    if (options.json) json(io, measured);
    else io.out(words(measured, loaded.kernels));
  });
}

type Measured = {
  prefill_tps: number;
  decode_tps: number;
  ttft_ms: number;
  tbt_ms: { p50: number; p95: number; p99: number; max: number };
  load_ms: number;
  rss_anon_bytes: number;
  fractions: { decode_bandwidth: number; prefill_compute: number };
};

function words(measured: Measured, kernels: string): string {
  const { tbt_ms: tbt, fractions } = measured;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  return [
    `Kernels          ${kernels}`,
    `Load             ${Math.round(measured.load_ms)} ms`,
    `Prefill          ${measured.prefill_tps.toFixed(1)} tokens/s (${percent(fractions.prefill_compute)} of the machine's int8 rate)`,
    `Decode           ${measured.decode_tps.toFixed(1)} tokens/s (${percent(fractions.decode_bandwidth)} of the memory's rate)`,
    `TTFT             ${measured.ttft_ms.toFixed(0)} ms`,
    `TBT              p50 ${tbt.p50.toFixed(1)}, p95 ${tbt.p95.toFixed(1)}, p99 ${tbt.p99.toFixed(1)}, max ${tbt.max.toFixed(1)} ms`,
    `Memory           ${bytes(measured.rss_anon_bytes)} besides the mapped weights`,
    '',
  ].join('\n');
}
