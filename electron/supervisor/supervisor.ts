// Which model is in the foreground, who may use it, and what everybody else sees of it. It owns no process itself: hosts do.
// The loop, the swap and the invariants: design.md.
import { randomUUID } from 'node:crypto';
import type { ActiveModel } from '../contract/own';
import { HearthError } from '../contract/errors';
import {
  loadOptions,
  type GenerationEvent,
  type Loaded,
  type LoadOptions,
  type LoadPhase,
  type LogLevel,
  type Params,
  type Result,
  type Stats,
} from '../contract/runtime';
import type { Telemetry } from '../telemetry/telemetry';
import { Answer } from './answer';
import type { SpawnHost } from './host';
import { Loads, givenUp } from './loads';
import { LocalHost } from './local-host';
import type { ModelHost } from './model-host';
import { ProbeProcess } from './probe';
import type { GenerateWork, ModelRef, Supervisor } from './types';

export interface SupervisorOptions {
  spawn: SpawnHost;
  /** For every load; absent: the contract's defaults. */
  load?: Partial<Omit<LoadOptions, 'path'>>;
  /** Most requests with a runtime at once. */
  slots?: number;
  /** Most requests that wait, for a slot or for a load. */
  maxWaiting?: number;
  /** After so long without a word a runtime that has work is taken for hung; absent: a minute. */
  hangMs?: number;
  telemetry?: Telemetry;
  log?(level: LogLevel, text: string): void;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  return new LocalSupervisor(options);
}

const SAMPLE_MS = 1000;

interface Loading {
  ref: ModelRef;
  phase?: LoadPhase;
  fraction?: number;
}

class LocalSupervisor implements Supervisor {
  readonly probe: ProbeProcess;
  private foreground: ModelHost | undefined;
  private loading: Loading | undefined;
  /** The last load that failed, until the next one begins. */
  private failure: { ref: ModelRef; error: HearthError } | undefined;
  private readonly hosts = new Set<ModelHost>();
  private readonly loads = new Loads<ModelHost>((ref, signal) => this.bring(ref, signal));
  private readonly open = new Set<Answer>();
  private readonly watchers = new Set<() => void>();
  private arrivals = 0;
  private served = 0;
  private lastStats: Stats | undefined;
  private sampler: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly options: SupervisorOptions) {
    this.probe = new ProbeProcess(options.spawn, (level, text) => this.log(level, text));
  }

  active(): ActiveModel | undefined {
    const { loading, foreground, failure } = this;
    if (loading) {
      const { ref, phase, fraction } = loading;
      return { name: ref.name, state: 'loading', ...(phase && { phase }), ...(fraction !== undefined && { fraction }) };
    }
    if (foreground) return describe(foreground, failure?.error);
    if (failure) return { name: failure.ref.name, state: 'failed', error: failure.error.toShape() };
    return undefined;
  }

  loaded(): Loaded | undefined {
    return this.foreground?.state === 'ready' ? this.foreground.loaded : undefined;
  }

  stats(): Stats | undefined {
    return this.foreground ? this.lastStats : undefined;
  }

  watch(listener: () => void): () => void {
    this.watchers.add(listener);
    this.sampleWhileNeeded();
    return () => this.watchers.delete(listener);
  }

  queue(): { running: number; waiting: number; served: number } {
    const live = [...this.open].filter((answer) => !answer.ended);
    const running = live.filter((answer) => answer.sent).length;
    return { running, waiting: live.length - running, served: this.served };
  }

  async load(model: ModelRef): Promise<Loaded> {
    this.refuseWhenClosed();
    this.loads.supersede(model.path);
    const host = this.usable(model) ?? (await this.loads.join(model, true).host);
    if (!host.loaded) throw new HearthError('internal', `The model ${model.name} has no description.`);
    return host.loaded;
  }

  async unload(): Promise<void> {
    this.loads.giveUpAll();
    this.failure = undefined;
    const host = this.foreground;
    this.foreground = undefined;
    this.lastStats = undefined;
    await host?.close();
    this.changed();
  }

  async *generate(model: ModelRef, work: GenerateWork, signal?: AbortSignal): AsyncGenerator<GenerationEvent, void> {
    this.refuseWhenClosed();
    this.admit();
    const answer = new Answer({ ...work, id: work.id ?? randomUUID() }, ++this.arrivals);
    const placement = new Placement(answer);
    const abort = () => placement.cancel();
    this.open.add(answer);
    try {
      if (signal?.aborted) answer.end('cancelled');
      else {
        signal?.addEventListener('abort', abort, { once: true });
        void this.place(placement, model);
      }
      this.sampleWhileNeeded();
      const watch = this.options.telemetry?.answer();
      for await (const event of answer.events()) {
        watch?.onEvent(event);
        if (event.kind === 'end' && event.reason !== 'error' && event.reason !== 'cancelled') this.served += 1;
        yield event;
      }
    } finally {
      signal?.removeEventListener('abort', abort);
      if (!answer.ended) placement.cancel();
      this.open.delete(answer);
      this.changed();
    }
  }

  async call<M extends 'count' | 'tokenize' | 'detokenize' | 'logits' | 'bench' | 'limits'>(
    model: ModelRef,
    method: M,
    params: Params<M>,
  ): Promise<Result<M>> {
    this.refuseWhenClosed();
    const host = this.usable(model) ?? (await this.waitForLoad(model).host);
    return host.call(method, params);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sampler);
    this.loads.giveUpAll();
    await Promise.all([this.probe.close(), ...[...this.hosts].map((host) => host.close())]);
  }

  /** Finds the answer a host, loading the model if it is not in the foreground. */
  private async place(placement: Placement, model: ModelRef): Promise<void> {
    const { answer } = placement;
    try {
      while (!answer.ended) {
        const host = this.usable(model) ?? (await this.awaitLoad(placement, model));
        if (host.state === 'closed' || answer.ended) continue;
        placement.host = host;
        host.take(answer);
        return;
      }
    } catch (error) {
      answer.fail(HearthError.from(error));
    }
  }

  private async awaitLoad(placement: Placement, model: ModelRef): Promise<ModelHost> {
    const { host, leave } = this.waitForLoad(model);
    placement.leave = leave;
    return host;
  }

  /** The load of `model` as one that waits for it; `leave` gives the wait up. */
  private waitForLoad(model: ModelRef): { host: Promise<ModelHost>; leave(): void } {
    const load = this.loads.join(model, false);
    load.waiters += 1;
    const leave = once(() => this.loads.leave(load));
    return { host: load.host.finally(leave), leave };
  }

  private usable(model: ModelRef): ModelHost | undefined {
    const host = this.foreground;
    return host && host.ref.path === model.path && (host.state === 'ready' || host.state === 'restarting')
      ? host
      : undefined;
  }

  /** Boots `ref` and makes it the foreground; the one before finishes its answers and goes. */
  private async bring(ref: ModelRef, signal: AbortSignal): Promise<ModelHost> {
    this.refuseWhenClosed();
    const already = this.usable(ref);
    if (already) return already;
    this.failure = undefined;
    this.loading = { ref };
    this.changed();
    const host = this.createHost(ref);
    this.hosts.add(host);
    const giveUp = () => void host.close();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await host.start();
      this.swapIn(host);
      return host;
    } catch (error) {
      this.hosts.delete(host);
      if (signal.aborted) throw givenUp(ref);
      throw this.failed(ref, error);
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.loading = undefined;
      this.changed();
    }
  }

  private failed(ref: ModelRef, error: unknown): HearthError {
    const { code, message, ...detail } = HearthError.from(error).toShape();
    const text = message.includes(ref.name) ? message : `${ref.name}: ${message}`;
    const named = new HearthError(code, text, { ...detail, cause: error });
    this.failure = { ref, error: named };
    this.options.telemetry?.loadFailed(code);
    return named;
  }

  private swapIn(host: ModelHost): void {
    const before = this.foreground;
    this.foreground = host;
    this.lastStats = undefined;
    if (host.loaded) {
      const { loadMs, kernels, context } = host.loaded;
      this.options.telemetry?.loaded(loadMs);
      this.log('info', `loaded ${host.ref.name} in ${Math.round(loadMs)} ms: ${kernels}, context ${context}`);
    }
    if (before) void before.drain().finally(() => this.hosts.delete(before));
    this.sampleWhileNeeded();
  }

  private createHost(ref: ModelRef): ModelHost {
    const { path: _, ...load } = loadOptions.parse({ ...this.options.load, path: ref.path });
    return new LocalHost(ref, {
      spawn: this.options.spawn,
      load,
      slots: this.options.slots ?? 8,
      ...(this.options.hangMs !== undefined && { hangMs: this.options.hangMs }),
      onChange: () => this.changed(),
      onPhase: (phase, fraction) => {
        if (this.loading?.ref === ref) this.loading = { ref, phase, fraction };
        this.changed();
      },
      onCrash: () => this.options.telemetry?.crashed(),
      log: (level, text) => this.log(level, text),
    });
  }

  private admit(): void {
    const most = this.options.maxWaiting ?? 64;
    const { waiting } = this.queue();
    if (waiting >= most) throw new HearthError('queue_full', `${waiting} requests are waiting already.`);
  }

  private refuseWhenClosed(): void {
    if (this.closed) throw new HearthError('no_model', 'Hearth is closing.');
  }

  /** Samples once a second as long as somebody watches or a request is open. */
  private sampleWhileNeeded(): void {
    if (this.sampler || this.closed) return;
    this.sampler = setInterval(() => {
      if (this.watchers.size === 0 && this.open.size === 0) {
        clearInterval(this.sampler);
        this.sampler = undefined;
      }
      void this.sample();
    }, SAMPLE_MS);
    this.sampler.unref();
  }

  private async sample(): Promise<void> {
    const host = this.foreground;
    if (host?.state !== 'ready') return;
    try {
      const stats = await host.stats();
      if (host !== this.foreground) return;
      this.lastStats = stats;
      this.options.telemetry?.sample(stats);
      this.changed();
    } catch {
      // The runtime died or is closing: its exit is handled where it is known.
    }
  }

  private changed(): void {
    for (const listener of this.watchers) listener();
  }

  private log(level: LogLevel, text: string): void {
    this.options.log?.(level, text);
  }
}

/** Where an answer is: waiting for a load, or with a host. */
class Placement {
  host: ModelHost | undefined;
  leave: (() => void) | undefined;

  constructor(readonly answer: Answer) {}

  cancel(): void {
    if (this.host) this.host.cancel(this.answer);
    else this.answer.end('cancelled');
    if (!this.host) this.leave?.();
  }
}

function describe(host: ModelHost, lastFailure: HearthError | undefined): ActiveModel {
  const { loaded, ref } = host;
  const state = host.state === 'ready' ? 'ready' : host.state === 'failed' ? 'failed' : 'loading';
  const error = host.error ?? lastFailure;
  return {
    name: ref.name,
    state,
    ...(loaded && {
      info: loaded.model,
      abilities: loaded.abilities,
      context: loaded.context,
      kernels: loaded.kernels,
      defaultTemperature: loaded.defaultTemperature,
    }),
    ...(error && { error: error.toShape() }),
  };
}

function once(effect: () => void): () => void {
  let done = false;
  return () => {
    if (!done) effect();
    done = true;
  };
}
