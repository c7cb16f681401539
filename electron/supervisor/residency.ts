// Which models are in memory, and the way in and out: one load at a time, room made for it, everybody let in when it is there.
// What fits is broker.ts's to say and whose turn it is swap.ts's; the loop, the states and the invariants: design.md.
import { HearthError } from '../contract/errors';
import type { Loaded, LogLevel, MemoryPlan } from '../contract/runtime';
import { expired, relieve, type Grant } from './broker';
import type { Going } from './device-choice';
import { gpusOf, type DeviceFailure } from './device-faults';
import { Failover } from './failover';
import { RESERVE_BYTES } from './fit';
import type { SeenGpu } from './gpus';
import { subjectOf, type Knowledge, type LastDevice } from './knowledge';
import { Looks } from './looks';
import { boot, type Boot, type HostNeeds, type Loading } from './loading';
import type { ModelHost } from './model-host';
import { comesElsewhere } from './policy';
import { Pools, noRoom, worthwhile, type PoolOptions } from './pools';
import type { Resident } from './resident';
import { letsIn } from './swap';
import {
  askOf,
  boundsOf,
  subjectDevice,
  termsOf,
  termsWished,
  type Asking,
  type HostLoad,
  type Known,
  type Terms,
  type Where,
} from './terms';
import { Trials } from './trials';
import type { LoadWish, ModelRef } from './types';
import { Wants, givenUp, type Waiter, type Want } from './wants';

export interface ResidencyOptions extends PoolOptions {
  /** A host that calls back at its changes, and while it loads. */
  createHost(ref: ModelRef, needs: HostNeeds): ModelHost;
  /** The devices to load it onto, without those that are `out`. Throws HearthError where the wish cannot be met. */
  choose(plan: MemoryPlan, wish: LoadWish, out: ReadonlySet<string>): Promise<Going>;
  /** The graphics devices as they are now. */
  look(): Promise<readonly SeenGpu[]>;
  /** Of the devices on which the model was before, one that is gone, where it goes to fewer now. */
  missing(plan: MemoryPlan, wish: LoadWish, where: Where): Promise<LastDevice | undefined>;
  /** Whether a model whose device failed may come back on the processor. */
  mayLeaveDevice(): boolean;
  knowledge: Knowledge;
  /** For every load. */
  load: Partial<HostLoad>;
  /** Most requests with a runtime at once. */
  slots: number;
  onChange(): void;
  onLoaded(ref: ModelRef, loaded: Loaded): void;
  onFailed(error: HearthError): void;
  log(level: LogLevel, text: string): void;
}

export class Residency {
  readonly residents = new Map<string, Resident>();
  readonly pools: Pools;
  readonly wants = new Wants();
  foreground: Resident | undefined;
  /** In the foreground before this one. */
  previous: ModelRef | undefined;
  loading: Loading | undefined;
  /** The last load that failed, until the next one begins. */
  failure: { ref: ModelRef; error: HearthError; at: number } | undefined;
  private lastForeground: ModelRef | undefined;
  private leaving = 0;
  private closed = false;
  private readonly looks: Looks;
  private readonly trials: Trials;
  private readonly failover: Failover;

  constructor(private readonly options: ResidencyOptions) {
    this.pools = new Pools(this.residents, options);
    this.failover = new Failover(this.pools, options);
    this.looks = new Looks(options.knowledge);
    this.trials = new Trials(options.knowledge, options.log);
  }

  /** In memory, and letting requests in. */
  open(ref: ModelRef): Resident | undefined {
    const resident = this.residents.get(ref.path);
    return resident?.usable && !this.isHeld(resident) ? resident : undefined;
  }

  /** Waits for the model, loading it where needed. Gives how to leave. */
  request(ref: ModelRef, waiter: Waiter): () => void {
    const want = this.wants.join(ref);
    want.requests.add(waiter);
    this.pump();
    return () => this.leave(want, waiter);
  }

  /** Makes the model the foreground. Loads that nobody but their asker waits for are given up for it. */
  summon(ref: ModelRef, wish: LoadWish, waiter: Waiter): void {
    const want = this.wants.join(ref);
    this.failover.forget(ref);
    for (const other of this.wants.all()) {
      if (other === want || other.requests.size > 0) continue;
      want.displaced ??= other.displaced;
      this.drop(other, givenUp(other.ref), false);
    }
    want.explicit = true;
    want.ask(wish);
    want.loaders.add(waiter);
    this.pump();
  }

  /** Gives up the load under way, or the one that waits for room. */
  cancelLoad(): void {
    const want = this.loading?.want ?? this.wants.next();
    if (want) this.drop(want, givenUp(want.ref));
    this.pump();
  }

  /** Ends this model, its answers included; without a name, the one in the foreground and every load. */
  async unload(ref?: ModelRef): Promise<void> {
    for (const want of this.wants.all()) {
      if (!ref || want.ref.path === ref.path) this.drop(want, givenUp(want.ref), false);
    }
    if (!ref) this.failure = undefined;
    const resident = ref ? this.residents.get(ref.path) : this.foreground;
    if (resident) await this.end(resident);
    this.promote();
    this.changed();
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const want of this.wants.all()) this.drop(want, givenUp(want.ref), false);
    await Promise.all([...this.residents.values()].map((resident) => this.end(resident)));
  }

  /** From time to time: what has been idle for long goes, and where other programs need memory, what is idle gives way. */
  tick(idleMs: number): void {
    const tenants = this.pools.tenants();
    const { shrink, evict } = relieve(tenants, RESERVE_BYTES - this.options.memory().freeBytes);
    this.grantAll(shrink);
    for (const { host, terms } of this.residents.values())
      if (terms) void this.options.knowledge.uses.nowAndThen(host, terms.plan);
    for (const path of new Set([...expired(tenants, idleMs, Date.now()), ...evict])) {
      const resident = this.residents.get(path);
      if (!resident || resident.ending) continue;
      this.options.log(
        'info',
        `${resident.ref.name} is unloaded: ${evict.includes(path) ? 'the memory is needed' : 'idle'}`,
      );
      void this.end(resident).then(() => this.promote());
    }
  }

  /** A host has changed: somebody may go on. */
  changed(): void {
    for (const resident of this.residents.values()) if (resident.busy) resident.lastUsedAt = Date.now();
    this.pump();
    this.options.onChange();
  }

  /** Asks every runtime what it holds. */
  async sample(): Promise<void> {
    await Promise.all([...this.residents.values()].map((resident) => this.looks.look(resident)));
  }

  /** What this model would ask of the broker. */
  askFor(path: string, wish: LoadWish, known: Known): Asking {
    const { load, slots } = this.options;
    return askOf(path, known, termsWished(wish, load), { limitOf: (gpu) => this.pools.limit(gpu), slots });
  }

  private isHeld(resident: Resident): boolean {
    const want = this.wants.next();
    return want !== undefined && want.waitsFor.includes(resident) && !letsIn(want, Date.now());
  }

  private leave(want: Want, waiter: Waiter): void {
    want.requests.delete(waiter);
    if (want.isIdle && this.wants.has(want)) this.drop(want, givenUp(want.ref));
    this.pump();
  }

  /** Takes a want back and tells its waiters why; a load for it ends. What went for it comes again, where `restores`. */
  private drop(want: Want, error: HearthError, restores = true): void {
    this.wants.remove(want);
    if (this.loading?.want === want) this.loading.controller.abort();
    for (const waiter of want.waiters) waiter.fail(error);
    if (restores) this.restore(want);
  }

  private restore({ displaced }: Want): void {
    if (!displaced || this.foreground || this.closed) return;
    const want = this.wants.join(displaced.ref);
    want.kept = true;
    want.ask({ ...displaced.wish, ...want.wish });
  }

  /** The one step of the loop: does what can be done for the model whose turn it is, or nothing. */
  private pump(): void {
    if (this.closed || this.loading || this.leaving > 0) return;
    const want = this.wants.next();
    if (!want) {
      this.grantAll(worthwhile(this.pools.regrow(), this.residents));
      return;
    }
    const resident = this.residents.get(want.ref.path) ?? this.sameContent(want);
    if (resident?.usable && !resident.differsFrom(want.wish)) {
      this.serve(want, resident);
      this.pump();
    } else if (want.ref.remote !== undefined) void this.bring(want, undefined);
    else if (!want.known) void this.plan(want);
    else this.makeRoom(want, want.known);
  }

  /** One model under two paths is loaded once. */
  private sameContent({ known }: Want): Resident | undefined {
    const modelId = known?.plan.model.modelId;
    if (modelId === undefined) return undefined;
    return [...this.residents.values()].find(({ terms, usable }) => usable && terms?.plan.model.modelId === modelId);
  }

  private async plan(want: Want): Promise<void> {
    if (want.planning) return;
    want.planning = true;
    this.forgetFailure(want);
    const { ref, wish } = want;
    const { knowledge, choose, missing } = this.options;
    try {
      const plan = await knowledge.plan(ref.path);
      const out = this.failover.out(ref);
      const { where, avoided } = await choose(plan, wish, out);
      const experience = await knowledge.experience(plan, subjectDevice(where));
      const gone = await missing(plan, wish, where);
      want.fallback =
        this.failover.fallback(ref, want.cause ? out : avoided) ??
        (gone && { device: gone.name, driver: gone.driver, code: 'device_unavailable' });
      // Who has named another device meanwhile has it chosen anew.
      if (want.wish.device === wish.device) want.known = { plan, experience, ...where };
    } catch (error) {
      if (this.wants.has(want)) this.fail(want, want.cause ?? error);
    }
    want.planning = false;
    this.changed();
  }

  private makeRoom(want: Want, known: Known): void {
    const ask = this.askFor(want.ref.path, want.wish, known);
    const placement = this.pools.place(ask);
    want.waitsFor = [];
    switch (placement.kind) {
      case 'wait':
        want.waitsFor = this.named(placement.paths);
        return;
      case 'refuse':
        this.fail(want, noRoom(placement, known.gpu));
        return this.pump();
      case 'evict':
        for (const resident of this.named(placement.paths)) void this.displace(resident, want);
        return;
      case 'grant':
        this.grantAll(placement.shrink);
        void this.bring(want, termsOf(ask, known, termsWished(want.wish, this.options.load), placement.kvBytes));
    }
  }

  private named(paths: readonly string[]): Resident[] {
    return paths.map((path) => this.residents.get(path)).filter((resident) => resident !== undefined);
  }

  private async displace(resident: Resident, want: Want): Promise<void> {
    if (resident === this.foreground) want.displaced = resident;
    await this.end(resident);
    this.changed();
  }

  private async bring(want: Want, terms: Terms | undefined): Promise<void> {
    const { ref, wish } = want;
    const loading: Loading = { want, controller: new AbortController() };
    this.loading = loading;
    this.forgetFailure(want);
    const { signal } = loading.controller;
    try {
      const failed = this.residents.get(ref.path);
      if (failed) await this.end(failed);
      if (signal.aborted) throw givenUp(ref);
      const resident = await boot(loading, wish, terms, this.booting());
      if (loading.better) return await this.comesAnew(want, resident, loading.better);
      this.residents.set(ref.path, resident);
      void this.noteDevice(resident);
      // Whoever has asked for other terms meanwhile gets these: the loop loads it anew.
      if (this.wants.has(want) && !resident.differsFrom(want.wish)) this.serve(want, resident);
    } catch (error) {
      if (!this.wants.has(want)) return;
      if (signal.aborted) this.fail(want, givenUp(ref));
      else if (!(await this.comesElsewhere(want, terms, HearthError.from(error)))) this.fail(want, error);
    } finally {
      this.loading = undefined;
      this.changed();
    }
  }

  /** Another way to share it over its devices is to be had instead: the loop loads it so. */
  private async comesAnew(want: Want, { host, terms }: Resident, where: Where): Promise<void> {
    await host.close();
    if (!terms || !this.wants.has(want)) return;
    const experience = await this.options.knowledge.experience(terms.plan, subjectDevice(where));
    want.known = { plan: terms.plan, experience, ...where };
  }

  private booting(): Boot {
    const { createHost, load, onChange, onLoaded } = this.options;
    return {
      ...{ createHost, onChange, onLoaded, options: load },
      look: (resident) => this.looks.look(resident),
      better: (resident) => this.trials.better(resident),
      leaveDevice: (resident, own, failure) => this.leaveDevice(resident, own, failure),
    };
  }

  /** For the next load: a device that is missing then is said, and experts stay where they were. What stands in for another does not take its place. */
  private async noteDevice({ terms, fallback }: Resident): Promise<void> {
    if (!terms || fallback) return;
    const { plan, division } = terms;
    const { knowledge } = this.options;
    await knowledge.loadedOn(plan, gpusOf(terms)).catch(() => undefined);
    if (division?.placement.served) await knowledge.uses.placed(plan, division.placement.served);
  }

  /** A device that was not asked for by name, and failed: it is planned anew without it. True also where nobody waits any more. */
  private async comesElsewhere(want: Want, terms: Terms | undefined, error: HearthError): Promise<boolean> {
    if (!terms?.gpu || !comesElsewhere(error.code, want.wish.device)) return false;
    await this.failover.blame(want.ref, terms, error);
    want.cause = error;
    want.known = undefined;
    return true;
  }

  /** Undefined where it may not leave its devices, or finds no room elsewhere. */
  private async leaveDevice(
    resident: Resident,
    load: Partial<HostLoad>,
    failure: DeviceFailure,
  ): Promise<Partial<HostLoad> | undefined> {
    const move = await this.failover.move(resident, load, failure);
    if (!move) return undefined;
    const { terms, fallback, shrink } = move;
    this.grantAll(shrink);
    resident.terms = terms;
    resident.fallback = fallback;
    resident.host.grant(terms.kvGrant);
    this.looks.forget(resident);
    return { ...load, device: 'cpu', mesh: undefined, ...boundsOf(terms) };
  }

  /** Everybody who waited is let in, at once and together. */
  private serve(want: Want, resident: Resident): void {
    this.wants.remove(want);
    if (want.explicit || !this.foreground) this.show(resident);
    resident.lastUsedAt = Date.now();
    // What the first one does must not make the model look idle to the others.
    resident.holding(() => {
      for (const waiter of want.waiters) waiter.begin(resident);
    });
  }

  private fail(want: Want, thrown: unknown): void {
    const { ref } = want;
    const { code, message, ...detail } = HearthError.from(thrown).toShape();
    const text = message.includes(ref.name) ? message : `${ref.name}: ${message}`;
    const error = new HearthError(code, text, { ...detail, cause: thrown });
    if (code !== 'cancelled') {
      this.failure = { ref, error, at: Date.now() };
      this.options.onFailed(error);
    }
    this.drop(want, error);
  }

  /** What is brought back after a load that failed is no new load: it is still to be seen why. */
  private forgetFailure({ kept }: Want): void {
    if (!kept) this.failure = undefined;
  }

  private show(resident: Resident): void {
    if (this.lastForeground && this.lastForeground.path !== resident.ref.path) this.previous = this.lastForeground;
    this.lastForeground = resident.ref;
    this.foreground = resident;
  }

  /** Without a model in the foreground, the one that was used last comes there, unless another is on its way. */
  private promote(): void {
    if (this.foreground || this.wants.next()) return;
    const usable = [...this.residents.values()].filter((resident) => resident.usable);
    const latest = usable.sort((one, two) => two.lastUsedAt - one.lastUsedAt)[0];
    if (latest) this.show(latest);
    this.options.onChange();
  }

  private end(resident: Resident): Promise<void> {
    if (resident.ending) return resident.ending;
    this.leaving += 1;
    if (this.foreground === resident) this.foreground = undefined;
    resident.ending = this.takeDown(resident).finally(() => (this.leaving -= 1));
    return resident.ending;
  }

  private async takeDown(resident: Resident): Promise<void> {
    const { ref, host, terms } = resident;
    const { knowledge } = this.options;
    const uses = terms ? await knowledge.uses.ask(host, terms.plan) : [];
    await host.close();
    if (this.residents.get(ref.path) === resident) this.residents.delete(ref.path);
    this.looks.forget(resident);
    if (!terms) return;
    await knowledge.uses.keep(terms.plan, uses);
    await knowledge.remember(subjectOf(terms.plan, subjectDevice(terms))).catch(() => undefined);
  }

  private grantAll(grants: readonly Grant[]): void {
    for (const { path, kvBytes } of grants) this.residents.get(path)?.grant(kvBytes);
  }
}
