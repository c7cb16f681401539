// What the measurements of `hearth bench` say together: medians and spreads, and fractions of the machine's limits. Pure.
import type { BenchResult, MachineLimits } from '../contract/runtime';
import { bytes, table } from './report';

export interface BenchCase {
  prefill: number;
  decode: number;
  sequences: number;
}

export interface Spread {
  median: number;
  least: number;
  most: number;
}

/** One row of the report: the same case, measured several times between two looks at the machine's limits. */
export function summarise(asked: BenchCase, results: BenchResult[], limits: MachineLimits[]) {
  const spreadOf = (value: (result: BenchResult) => number) => spread(results.map(value));
  const limit = (value: (limits: MachineLimits) => number) => spread(limits.map(value)).median;
  const [prefill, decode] = [spreadOf(({ prefillTps }) => prefillTps), spreadOf(({ decodeTps }) => decodeTps)];
  const { prefillOps = 0, decodeBytes = 0 } = results[0]?.work ?? {};
  const readBytes = (decode.median / asked.sequences) * decodeBytes;
  return {
    ...asked,
    prefill_tps: prefill,
    decode_tps: decode,
    ttft_ms: spreadOf(({ ttftMs }) => ttftMs),
    tbt_ms: {
      p50: spreadOf(({ tbtMs }) => tbtMs.p50).median,
      p95: spreadOf(({ tbtMs }) => tbtMs.p95).median,
      p99: spreadOf(({ tbtMs }) => tbtMs.p99).median,
      max: spreadOf(({ tbtMs }) => tbtMs.max).most,
    },
    peak_anon_bytes: spreadOf(({ peakAnonBytes }) => peakAnonBytes).most,
    kv_bytes: spreadOf(({ kvBytes }) => kvBytes).most,
    prefill_ops_per_token: prefillOps,
    decode_bytes_per_step: decodeBytes,
    limits: {
      read_bytes_per_second: limit(({ readBytesPerSecond }) => readBytesPerSecond),
      int8_ops_per_second: limit(({ int8OpsPerSecond }) => int8OpsPerSecond),
      int8_kernel: limits[0]?.int8Kernel ?? '',
      threads: limits[0]?.threads ?? 0,
    },
    fractions: {
      prefill_compute: ratio(
        prefill.median * prefillOps,
        limit(({ int8OpsPerSecond }) => int8OpsPerSecond),
      ),
      decode_bandwidth: ratio(
        readBytes,
        limit(({ readBytesPerSecond }) => readBytesPerSecond),
      ),
    },
  };
}
export type BenchRow = ReturnType<typeof summarise>;

export function spread(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (i: number) => sorted[i] ?? 0;
  const last = sorted.length - 1;
  return { median: (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2, least: at(0), most: at(last) };
}

function ratio(value: number, limit: number): number {
  return limit > 0 ? value / limit : 0;
}

/** The report in words: a table of the cases and what they are measured against. */
export function words(rows: BenchRow[], loadMs: number, kernels: string): string {
  const head = [
    'READ',
    'WRITE',
    'TOGETHER',
    'PREFILL t/s',
    'OF INT8',
    'DECODE t/s',
    'OF MEMORY',
    'TTFT ms',
    'GAPS ms p50/p95/p99/max',
  ];
  const lines = rows.map((row) => [
    String(row.prefill),
    String(row.decode),
    String(row.sequences),
    spreadWords(row.prefill_tps),
    percent(row.fractions.prefill_compute),
    spreadWords(row.decode_tps),
    percent(row.fractions.decode_bandwidth),
    row.ttft_ms.median.toFixed(0),
    [row.tbt_ms.p50, row.tbt_ms.p95, row.tbt_ms.p99, row.tbt_ms.max].map((gap) => gap.toFixed(1)).join(' / '),
  ]);
  return `${table([head, ...lines])}\n${footnotes(rows, loadMs, kernels)}`;
}

function footnotes(rows: BenchRow[], loadMs: number, kernels: string): string {
  const [first] = rows;
  if (!first) return '';
  const peak = rows.reduce((most, row) => (row.peak_anon_bytes > most.peak_anon_bytes ? row : most), first);
  const read = spread(rows.map(({ limits }) => limits.read_bytes_per_second)).median;
  const int8 = spread(rows.map(({ limits }) => limits.int8_ops_per_second)).median;
  const { threads, int8_kernel: units } = first.limits;
  const by = threads > 0 ? `${units}), ${threads} threads` : `${units})`;
  return [
    `Kernels   ${kernels}, loaded in ${Math.round(loadMs)} ms`,
    `Machine   reads ${bytes(read)}/s, multiplies ${(int8 / 1e9).toFixed(0)} GOP/s (${by}`,
    `Work      ${(first.prefill_ops_per_token / 1e9).toFixed(2)} GOP per prompt token, ${bytes(first.decode_bytes_per_step)} per step of ${first.sequences}`,
    `Memory    at most ${bytes(peak.peak_anon_bytes)} besides the mapped weights, of it up to ${bytes(peak.kv_bytes)} for KV`,
    '',
  ].join('\n');
}

function spreadWords({ median, least, most }: Spread): string {
  return least === most ? median.toFixed(1) : `${median.toFixed(1)} (${least.toFixed(1)}–${most.toFixed(1)})`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
