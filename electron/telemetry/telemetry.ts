// What is counted while Hearth works: requests, tokens, latencies, memory; and the Prometheus text of it.
// It never sees a prompt or an answer, and labels nothing with what a client may choose freely.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { GenerationEvent, Stats } from '../contract/runtime';
import { Percentiles, Rate } from './window';

export interface LatencySummary {
  count: number;
  p50?: number;
  p95?: number;
  p99?: number;
}

export interface TelemetrySnapshot {
  ttftMs: LatencySummary;
  tbtMs: LatencySummary;
  /** Output tokens of all requests together, of the last seconds. */
  tokensPerSecond: number;
}

export interface AnswerWatch {
  onEvent(event: GenerationEvent): void;
}

export interface Telemetry {
  /** Watches the events of one answer, from the moment it was asked for. */
  answer(): AnswerWatch;
  sample(stats: Stats): void;
  loaded(ms: number): void;
  loadFailed(code: string): void;
  crashed(): void;
  /** One HTTP request; `route` is the pattern, never the address. */
  request(sample: { route: string; method: string; status: number; ms: number }): void;
  snapshot(): TelemetrySnapshot;
  text(): Promise<string>;
}

const TTFT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
const TBT_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];
const LOAD_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];
const HTTP_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300];

function createMetrics() {
  const registers = [new Registry()];
  const named = <L extends string>(name: string, help: string, labelNames: L[] = []) => ({
    name: `hearth_${name}`,
    help,
    labelNames,
    registers,
  });
  return {
    registry: registers[0] as Registry,
    finished: new Counter(named('answers_total', 'Answers by how they ended', ['reason'])),
    promptTokens: new Counter(named('prompt_tokens_total', 'Tokens of prompts')),
    cachedTokens: new Counter(named('cached_tokens_total', 'Tokens of prompts that were not read again')),
    outputTokens: new Counter(named('output_tokens_total', 'Tokens written')),
    ttft: new Histogram({ ...named('ttft_seconds', 'From the request to the first token'), buckets: TTFT_SECONDS }),
    tbt: new Histogram({ ...named('tbt_seconds', 'Between two deliveries of tokens'), buckets: TBT_SECONDS }),
    http: new Histogram({
      ...named('http_seconds', 'HTTP requests', ['route', 'method', 'status']),
      buckets: HTTP_SECONDS,
    }),
    loads: new Counter(named('loads_total', 'Loads of models by result', ['result'])),
    loadTime: new Histogram({ ...named('load_seconds', 'Loads that succeeded'), buckets: LOAD_SECONDS }),
    crashes: new Counter(named('runtime_crashes_total', 'Runtimes that ended unexpectedly')),
    memory: new Gauge(named('memory_bytes', 'Memory of the runtime', ['kind'])),
    blocks: new Gauge(named('kv_blocks', 'Blocks of the KV pool', ['state'])),
    requests: new Gauge(named('requests', 'Requests with the runtime', ['state'])),
    rate: new Gauge(named('tokens_per_second', 'Of the last seconds', ['kind'])),
  };
}

function summary(percentiles: Percentiles): LatencySummary {
  const [p50, p95, p99] = percentiles.at([0.5, 0.95, 0.99]);
  return { count: percentiles.count, p50, p95, p99 };
}

/** `now` in milliseconds, of a clock that only goes forward. */
export function createTelemetry(now: () => number = () => performance.now()): Telemetry {
  const metrics = createMetrics();
  const ttft = new Percentiles();
  const tbt = new Percentiles();
  const rate = new Rate();

  const answer = (): AnswerWatch => {
    const asked = now();
    let last: number | undefined;
    return {
      onEvent(event) {
        if (event.kind === 'parts' && event.tokenIds.length > 0) {
          const at = now();
          rate.add(event.tokenIds.length, at);
          metrics.outputTokens.inc(event.tokenIds.length);
          const ms = at - (last ?? asked);
          (last === undefined ? ttft : tbt).add(ms);
          (last === undefined ? metrics.ttft : metrics.tbt).observe(ms / 1000);
          last = at;
        }
        if (event.kind === 'end') {
          metrics.finished.inc({ reason: event.reason });
          metrics.promptTokens.inc(event.usage.promptTokens);
          metrics.cachedTokens.inc(event.usage.cachedTokens);
        }
      },
    };
  };

  const sample = (stats: Stats): void => {
    metrics.memory.set({ kind: 'weights' }, stats.weightBytes);
    metrics.memory.set({ kind: 'kv_used' }, stats.kvBytesUsed);
    metrics.memory.set({ kind: 'kv_total' }, stats.kvBytesTotal);
    metrics.memory.set({ kind: 'scratch' }, stats.scratchBytes);
    metrics.memory.set({ kind: 'rss' }, stats.rssBytes);
    metrics.memory.set({ kind: 'rss_anon' }, stats.rssAnonBytes);
    metrics.blocks.set({ state: 'used' }, stats.blocksUsed);
    metrics.blocks.set({ state: 'free' }, stats.blocksFree);
    metrics.requests.set({ state: 'running' }, stats.running);
    metrics.requests.set({ state: 'waiting' }, stats.waiting);
    metrics.rate.set({ kind: 'prefill' }, stats.prefillTps);
    metrics.rate.set({ kind: 'decode' }, stats.decodeTps);
  };

  return {
    answer,
    sample,
    loaded: (ms) => {
      metrics.loads.inc({ result: 'ok' });
      metrics.loadTime.observe(ms / 1000);
    },
    loadFailed: (code) => metrics.loads.inc({ result: code }),
    crashed: () => metrics.crashes.inc(),
    request: ({ route, method, status, ms }) =>
      metrics.http.observe({ route, method, status: String(status) }, ms / 1000),
    snapshot: () => ({ ttftMs: summary(ttft), tbtMs: summary(tbt), tokensPerSecond: rate.perSecond(now()) }),
    text: () => metrics.registry.metrics(),
  };
}
