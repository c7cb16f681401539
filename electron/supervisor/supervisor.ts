// The supervisor as the rest of main sees it: requests in, streams of events out, and what is in memory, in plain data. Which model is
// there is residency.ts's business, and processes are the hosts'. The loop, the swap and the invariants: design.md.
import { randomUUID } from 'node:crypto';
import type { LoadPlan } from '../contract/models';
import type { ActiveModel, AppState, FailedLoad } from '../contract/own';
import { HearthError } from '../contract/errors';
import {
  loadOptions,
  type GenerationEvent,
  type Loaded,
  type LoadOptions,
  type LogLevel,
  type MemoryPlan,
  type Method,
  type Params,
  type Result,
  type Stats,
} from '../contract/runtime';
import type { Telemetry } from '../telemetry/telemetry';
import { Answer } from './answer';
import { AnswerPlace } from './answer-place';
import type { Room } from './fit';
import type { SpawnHost } from './host';
import { Knowledge, type ExperienceStore } from './knowledge';
import type { HostNeeds } from './loading';
import { LocalHost } from './local-host';
import { machineMemory, type MachineMemory } from './memory';
import type { HostListener, ModelHost } from './model-host';
import type { DeviceWish } from './placement/choose';
import { Planner } from './planner';
import { ProbeProcess } from './probe';
import { Residency } from './residency';
import type { Resident } from './resident';
import { etaMs } from './swap';
import type { Known } from './terms';
import type { GenerateWork, LoadWish, ModelRef, Supervisor } from './types';
import { describe, describeComing, together } from './view';

export interface SupervisorOptions {
  spawn: SpawnHost;
  /** Makes the host of a model with `remote`; absent: there is none. */
  remote?(ref: ModelRef, listener: HostListener): ModelHost;
  /** For every load; absent: the contract's defaults. */
  load?: Partial<Omit<LoadOptions, 'path'>>;
  /** Most requests with a runtime at once. */
  slots?: number;
  /** Most requests that wait, for a slot or for a load. */
  maxWaiting?: number;
  /** After so long without a word a runtime that has work is taken for hung; absent: a minute. */
  hangMs?: number;
  /** Where what loads really took, and which experts they used, is kept. */
  store?: ExperienceStore;
  /** All models together take no more; absent: what the machine has. */
  budgetBytes?: number;
  /** Absent: the machine's own. */
  memory?(): MachineMemory;
  /** Where models are loaded; asked for at each load. Absent: the processor alone, and no driver is ever opened. */
  devices?(): DeviceWish;
  /** How often idle models and the machine's memory are looked at. */
  tickMs?: number;
  telemetry?: Telemetry;
  log?(level: LogLevel, text: string): void;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  return new LocalSupervisor(options);
}

const SAMPLE_MS = 1000;
const TICK_MS = 15_000;
const SLOTS = 8;

class LocalSupervisor implements Supervisor {
  readonly probe: ProbeProcess;
  private readonly knowledge: Knowledge;
  private readonly residency: Residency;
  private readonly planner: Planner;
  private readonly open = new Map<Answer, AnswerPlace>();
  private readonly watchers = new Set<() => void>();
  /** How long loads took, by path, and the tokens of the answers so far. */
  private readonly loadMs = new Map<string, number>();
  private readonly given = { answers: 0, tokens: 0 };
  private arrivals = 0;
  private idleMs = 0;
  private sampler: NodeJS.Timeout | undefined;
  private readonly ticker: NodeJS.Timeout;
  private closed = false;

  constructor(private readonly options: SupervisorOptions) {
    const { budgetBytes, memory = machineMemory } = options;
    const log = (level: LogLevel, text: string) => this.log(level, text);
    this.probe = new ProbeProcess(options.spawn, log, undefined, () => options.load?.kernelCachePath);
    this.knowledge = new Knowledge(this.probe, options.store, options.load?.prefillChunk);
    this.residency = new Residency({
      createHost: (ref, needs) => this.createHost(ref, needs),
      choose: (plan, wish, out) => this.planner.choice.whereFor(plan, wish, out),
      look: () => this.planner.choice.look(),
      missing: (plan, wish, where) => this.planner.choice.missing(plan, wish, where),
      mayLeaveDevice: () => !wishOf(options).gpuRequired,
      knowledge: this.knowledge,
      // Asked for at each load.
      get load() {
        return options.load ?? {};
      },
      slots: options.slots ?? SLOTS,
      memory,
      ...(budgetBytes !== undefined && { budgetBytes }),
      onChange: () => this.changed(),
      onLoaded: (ref, loaded) => this.onLoaded(ref, loaded),
      onFailed: ({ code }) => options.telemetry?.loadFailed(code),
      log: (level, text) => this.log(level, text),
    });
    this.planner = new Planner({
      probe: this.probe,
      knowledge: this.knowledge,
      residency: this.residency,
      wish: () => wishOf(options),
      memory,
      ...(budgetBytes !== undefined && { budgetBytes }),
      isQuiet: () => this.queue().running === 0 && !this.residency.loading,
      log: (level, text) => this.log(level, text),
    });
    this.ticker = setInterval(() => this.residency.tick(this.idleMs), options.tickMs ?? TICK_MS);
    this.ticker.unref();
  }

  active(): ActiveModel | undefined {
    const { loading, wants, foreground, failure } = this.residency;
    const coming = loading?.want ?? wants.next();
    if (coming && coming.waitsFor.length === 0) return describeComing(coming, loading ?? {});
    if (foreground) return describe(foreground);
    if (failure) return { name: failure.ref.name, state: 'failed', error: failure.error.toShape() };
    return coming && describeComing(coming, {});
  }

  models(): ActiveModel[] {
    const { foreground, residents } = this.residency;
    const others = [...residents.values()].filter((resident) => resident !== foreground);
    return [...(foreground ? [foreground] : []), ...others].map((resident) => describe(resident));
  }

  loaded(model?: ModelRef): Loaded | undefined {
    const { foreground, residents } = this.residency;
    const host = (model ? residents.get(model.path) : foreground)?.host;
    return host?.state === 'ready' ? host.loaded : undefined;
  }

  previous(): string | undefined {
    return this.residency.previous?.name;
  }

  failed(): FailedLoad | undefined {
    const { failure } = this.residency;
    return failure && { model: failure.ref.name, error: failure.error.toShape(), at: failure.at };
  }

  swap(): AppState['swap'] {
    const want = this.residency.loading?.want ?? this.residency.wants.next();
    const [first] = want?.waitsFor ?? [];
    if (!want || !first) return undefined;
    const weights = want.known?.plan.weightBytes ?? 0;
    const loadMs = this.loadMs.get(want.ref.path) ?? 1000 + weights / 1e6;
    const usual = this.given.answers > 0 ? this.given.tokens / this.given.answers : undefined;
    const etas = want.waitsFor.map((resident) => {
      const answers = this.answersOn(resident);
      return etaMs(answers, (resident.stats?.decodeTps ?? 0) / Math.max(1, answers.length), usual, loadMs);
    });
    const eta = etas.every((each) => each !== undefined) ? Math.max(...etas) : undefined;
    return {
      to: want.ref.name,
      runningOn: first.ref.name,
      waiting: want.requests.size,
      ...(eta !== undefined && { etaMs: Math.round(eta) }),
    };
  }

  stats(): Stats | undefined {
    return together([...this.residency.residents.values()].flatMap(({ stats }) => stats ?? []));
  }

  watch(listener: () => void): () => void {
    this.watchers.add(listener);
    this.sampleWhileNeeded();
    return () => this.watchers.delete(listener);
  }

  card(): ReturnType<Supervisor['card']> {
    const gpu = this.residency.foreground?.terms?.gpu;
    if (!gpu || gpu.unified) return undefined;
    const { totalBytes, limitBytes } = gpu;
    const engineBytes = this.residency.pools.heldOn(gpu.id);
    return { engineBytes, otherBytes: Math.max(0, totalBytes - limitBytes), totalBytes };
  }

  queue(): { running: number; waiting: number; served: number } {
    const live = [...this.open.keys()].filter((answer) => !answer.ended);
    const running = live.filter((answer) => answer.sent).length;
    return { running, waiting: live.length - running, served: this.given.answers };
  }

  async load(model: ModelRef, wish: LoadWish = {}): Promise<Loaded> {
    this.refuseWhenClosed();
    const resident = await new Promise<Resident>((resolve, reject) =>
      this.residency.summon(model, wish, { begin: resolve, fail: reject }),
    );
    const { loaded } = resident.host;
    if (!loaded) throw new HearthError('internal', `The model ${model.name} has no description.`);
    return loaded;
  }

  cancelLoad(): void {
    this.residency.cancelLoad();
  }

  unload(model?: ModelRef): Promise<void> {
    return this.residency.unload(model);
  }

  known(model: ModelRef): Promise<Known> {
    return this.planner.known(model);
  }

  plan(model: ModelRef, device?: string): Promise<LoadPlan> {
    return this.planner.plan(model, device);
  }

  fitRoom(model: ModelRef): Promise<Known & { room: Room }> {
    return this.planner.fitRoom(model);
  }

  roomFor(plan: MemoryPlan): Promise<Room> {
    return this.planner.roomFor(plan);
  }

  room(): Promise<Room> {
    return this.planner.ram();
  }

  setIdleUnload(minutes: number): void {
    this.idleMs = minutes * 60_000;
  }

  async *generate(model: ModelRef, work: GenerateWork, signal?: AbortSignal): AsyncGenerator<GenerationEvent, void> {
    this.refuseWhenClosed();
    this.admit();
    const answer = new Answer({ ...work, id: work.id ?? randomUUID() }, ++this.arrivals);
    const placement = new AnswerPlace(answer);
    const abort = () => placement.cancel();
    this.open.set(answer, placement);
    try {
      if (signal?.aborted) answer.end('cancelled');
      else {
        signal?.addEventListener('abort', abort, { once: true });
        this.place(placement, model);
      }
      this.sampleWhileNeeded();
      const watch = this.options.telemetry?.answer();
      for await (const event of answer.events()) {
        watch?.onEvent(event);
        this.count(event);
        yield event;
      }
    } finally {
      signal?.removeEventListener('abort', abort);
      if (!answer.ended) placement.cancel();
      this.open.delete(answer);
      this.residency.changed();
    }
  }

  call<M extends 'count' | 'tokenize' | 'detokenize' | 'logits' | 'bench' | 'limits'>(
    model: ModelRef,
    method: M,
    params: Params<M>,
  ): Promise<Result<M>> {
    return new Promise((resolve, reject) => {
      this.refuseWhenClosed();
      const begin = (resident: Resident) => {
        const result = resident.during(this.callOn(resident, method, params));
        void result.then(resolve, reject).finally(() => this.residency.changed());
      };
      const resident = this.residency.open(model);
      if (resident) begin(resident);
      else this.residency.request(model, { begin, fail: reject });
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sampler);
    clearInterval(this.ticker);
    await Promise.all([this.probe.close(), this.residency.close()]);
  }

  private callOn<M extends Method>({ host, terms }: Resident, method: M, params: Params<M>): Promise<Result<M>> {
    const work = () => host.call(method, params);
    return method === 'bench' && terms ? this.knowledge.uses.aside(host, terms.plan, work) : work();
  }

  /** Gives the answer to the model, now or when the model is there. */
  private place(placement: AnswerPlace, model: ModelRef): void {
    const { answer } = placement;
    const begin = (resident: Resident) => {
      placement.leave = undefined;
      if (answer.ended) return;
      placement.resident = resident;
      resident.lastUsedAt = Date.now();
      resident.host.take(answer);
    };
    const resident = this.residency.open(model);
    if (resident) begin(resident);
    else {
      const leave = this.residency.request(model, { begin, fail: (error) => answer.fail(error) });
      if (!placement.resident) placement.leave = leave;
    }
  }

  private answersOn(resident: Resident): { tokens: number; maxTokens: number | undefined }[] {
    return [...this.open]
      .filter(([answer, placement]) => placement.resident === resident && !answer.ended)
      .map(([answer]) => ({ tokens: answer.tokens.length, maxTokens: answer.maxTokens }));
  }

  private count(event: GenerationEvent): void {
    if (event.kind !== 'end' || event.reason === 'error' || event.reason === 'cancelled') return;
    this.given.answers += 1;
    this.given.tokens += event.usage.completionTokens;
  }

  private onLoaded(ref: ModelRef, { loadMs, kernels, context }: Loaded): void {
    this.loadMs.set(ref.path, loadMs);
    this.options.telemetry?.loaded(loadMs);
    this.log('info', `loaded ${ref.name} in ${Math.round(loadMs)} ms: ${kernels}, context ${context}`);
    this.sampleWhileNeeded();
  }

  private createHost(ref: ModelRef, { load: own, onPhase, leaveDevice }: HostNeeds): ModelHost {
    const { remote, telemetry, spawn, slots = SLOTS, hangMs } = this.options;
    const listener = { onChange: () => this.residency.changed(), onCrash: () => telemetry?.crashed() };
    if (ref.remote !== undefined) {
      if (!remote) throw new HearthError('model_not_found', `The engine that has ${ref.name} is not there.`);
      return remote(ref, listener);
    }
    const complete = (options: Partial<LoadOptions>) => loadOptions.parse({ ...options, path: ref.path });
    const { path: _, ...load } = complete(own);
    return new LocalHost(ref, {
      ...listener,
      spawn,
      load,
      slots,
      ...(hangMs !== undefined && { hangMs }),
      onPhase,
      mayLeaveDevice: () => !wishOf(this.options).gpuRequired,
      leaveDevice: async (failure) => {
        const elsewhere = await leaveDevice(failure);
        return elsewhere && complete(elsewhere);
      },
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
    if (this.residency.residents.size === 0) return;
    await this.residency.sample();
    const stats = this.stats();
    if (stats) this.options.telemetry?.sample(stats);
    this.changed();
  }

  private changed(): void {
    for (const listener of this.watchers) listener();
  }

  private log(level: LogLevel, text: string): void {
    this.options.log?.(level, text);
  }
}

/** Options that name a device for every load say it for everybody. */
function wishOf({ load, devices }: SupervisorOptions): DeviceWish {
  if (load?.device !== undefined) return { device: load.device, gpuRequired: false };
  return devices?.() ?? { device: 'cpu', gpuRequired: false };
}
