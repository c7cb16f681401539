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
    cacheMisses: new Gauge(named('cache_misses', 'Requests by why not more of their prompts was cached', ['reason'])),
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
  return new LiveTelemetry(now);
}

class LiveTelemetry implements Telemetry {
  private readonly metrics = createMetrics();
  private readonly ttft = new Percentiles();
  private readonly tbt = new Percentiles();
  private readonly rate = new Rate();

  constructor(private readonly now: () => number) {}

  answer(): AnswerWatch {
    const asked = this.now();
    let last: number | undefined;
    return {
      onEvent: (event) => {
        if (event.kind === 'end') this.ended(event);
        if (event.kind !== 'parts' || event.tokenIds.length === 0) return;
        const at = this.now();
        this.wrote(event.tokenIds.length, at);
        if (last === undefined) this.latency(this.ttft, this.metrics.ttft, at - asked);
        else this.latency(this.tbt, this.metrics.tbt, at - last);
        last = at;
      },
    };
  }

  sample(stats: Stats): void {
    const { memory, blocks, cacheMisses, requests, rate } = this.metrics;
    memory.set({ kind: 'weights' }, stats.weightBytes);
    memory.set({ kind: 'kv_used' }, stats.kvBytesUsed);
    memory.set({ kind: 'kv_total' }, stats.kvBytesTotal);
    memory.set({ kind: 'scratch' }, stats.scratchBytes);
    memory.set({ kind: 'rss' }, stats.rssBytes);
    memory.set({ kind: 'rss_anon' }, stats.rssAnonBytes);
    blocks.set({ state: 'used' }, stats.blocksUsed);
    blocks.set({ state: 'cached' }, stats.blocksCached);
    blocks.set({ state: 'free' }, stats.blocksFree);
    for (const [reason, count] of Object.entries(stats.cacheMisses)) cacheMisses.set({ reason }, count);
    requests.set({ state: 'running' }, stats.running);
    requests.set({ state: 'waiting' }, stats.waiting);
    rate.set({ kind: 'prefill' }, stats.prefillTps);
    rate.set({ kind: 'decode' }, stats.decodeTps);
  }

  loaded(ms: number): void {
    this.metrics.loads.inc({ result: 'ok' });
    this.metrics.loadTime.observe(ms / 1000);
  }

  loadFailed(code: string): void {
    this.metrics.loads.inc({ result: code });
  }

  crashed(): void {
    this.metrics.crashes.inc();
  }

  request({ route, method, status, ms }: { route: string; method: string; status: number; ms: number }): void {
    this.metrics.http.observe({ route, method, status: String(status) }, ms / 1000);
  }

  snapshot(): TelemetrySnapshot {
    return {
      ttftMs: summary(this.ttft),
      tbtMs: summary(this.tbt),
      tokensPerSecond: this.rate.perSecond(this.now()),
    };
  }

  text(): Promise<string> {
    return this.metrics.registry.metrics();
  }

  private wrote(tokens: number, at: number): void {
    this.rate.add(tokens, at);
    this.metrics.outputTokens.inc(tokens);
  }

  private latency(recent: Percentiles, all: Histogram, ms: number): void {
    recent.add(ms);
    all.observe(ms / 1000);
  }

  private ended({ reason, usage }: Extract<GenerationEvent, { kind: 'end' }>): void {
    this.metrics.finished.inc({ reason });
    this.metrics.promptTokens.inc(usage.promptTokens);
    this.metrics.cachedTokens.inc(usage.cachedTokens);
  }
}
