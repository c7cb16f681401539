// One model on this machine: boots its runtime, keeps it fed, boots it again when it dies and lets the requests go on.
// It does not choose which model is in the foreground, and never blocks main. The loop and its invariants: design.md.
import type {
  GenerationEvent,
  Loaded,
  LoadOptions,
  LoadPhase,
  LogLevel,
  Method,
  Params,
  Result,
  Stats,
} from '../contract/runtime';
import { HearthError, type ErrorCode } from '../contract/errors';
import type { Answer } from './answer';
import type { DeviceFailure } from './device-faults';
import type { HostExit, SpawnHost } from './host';
import type { HostListener, HostState, ModelHost } from './model-host';
import {
  endsRuntime,
  graphicsIn,
  HANG_MS,
  isDeviceTrouble,
  leavesDevice,
  lostOneOfSeveral,
  nextWaiting,
  onCrash,
  resumes,
} from './policy';
import { RuntimeProcess } from './runtime-process';
import type { ModelRef } from './types';
import { watchForHang } from './watchdog';

export interface LocalHostOptions extends HostListener {
  spawn: SpawnHost;
  load: Omit<LoadOptions, 'path'>;
  /** Most requests with the runtime at once. */
  slots: number;
  /** See policy.ts; absent: HANG_MS. */
  hangMs?: number;
  onPhase(phase: LoadPhase, fraction: number): void;
  /** Whether it may run elsewhere when its device fails; absent: no. */
  mayLeaveDevice?(): boolean;
  /** A device of its failed: how it is loaded elsewhere from now on; undefined: not at all. */
  leaveDevice?(failure: DeviceFailure): Promise<Omit<LoadOptions, 'path'> | undefined>;
  log(level: LogLevel, text: string): void;
}

/** A runtime that has not said `end` so long after a cancel is not waited for any longer. */
const CANCEL_MS = 150;

export class LocalHost implements ModelHost {
  state: HostState = 'booting';
  loaded: Loaded | undefined;
  error: HearthError | undefined;
  private process: RuntimeProcess | undefined;
  private readonly answers = new Map<string, Answer>();
  private readonly crashes: number[] = [];
  private restartTimer: NodeJS.Timeout | undefined;
  private readonly stateWaiters: (() => void)[] = [];
  private closing: Promise<void> | undefined;
  private granted: number | undefined;
  /** As it was loaded last; another device once the first one failed. */
  private load: Omit<LoadOptions, 'path'>;
  /** Of the devices that it is on: deaths there, the last failure that was told, and whether it is to go on without them. */
  private devices: { crashes: number; failure: DeviceFailure; leaves: boolean } = fresh();
  /** It has nowhere else to go. */
  private stays = false;
  /** What the device of the runtime that is being ended said. */
  private deviceError: HearthError | undefined;

  constructor(
    readonly ref: ModelRef,
    private readonly options: LocalHostOptions,
  ) {
    this.load = options.load;
  }

  get running(): number {
    return [...this.answers.values()].filter((answer) => answer.sent && !answer.ended).length;
  }

  get waiting(): number {
    return [...this.answers.values()].filter((answer) => !answer.sent).length;
  }

  async start(): Promise<Loaded> {
    try {
      const loaded = await this.boot(this.load);
      this.setState('ready');
      return loaded;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  take(answer: Answer): void {
    if (this.state === 'failed' || this.state === 'closed') {
      answer.fail(this.error ?? notRunning(this.ref));
      return;
    }
    this.answers.set(answer.id, answer);
    this.pump();
  }

  cancel(answer: Answer): void {
    if (answer.ended || !this.answers.has(answer.id)) return;
    answer.cancelled = true;
    if (!answer.sent || !this.process?.alive) {
      answer.end('cancelled');
      this.forget(answer);
      return;
    }
    this.process.call('cancel', { id: answer.id }).catch(() => undefined);
    // The stream ends in time whatever the runtime does; its slot stays taken until the runtime lets go.
    setTimeout(() => answer.end('cancelled'), CANCEL_MS);
  }

  async call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    while (this.state === 'restarting' || this.state === 'booting') {
      await new Promise<void>((resolve) => this.stateWaiters.push(resolve));
    }
    if (this.state !== 'ready' || !this.process) throw this.error ?? notRunning(this.ref);
    return this.process.call(method, params);
  }

  stats(): Promise<Stats> {
    return this.call('stats', {});
  }

  grant(kvBytes: number): void {
    this.granted = kvBytes;
    if (this.state === 'ready') this.process?.call('grant', { kvBytes }).catch(() => undefined);
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    const booting = this.state === 'booting';
    this.setState('closed');
    clearTimeout(this.restartTimer);
    for (const answer of [...this.answers.values()]) {
      answer.end('cancelled');
      this.forget(answer);
    }
    // A load has nothing to finish in order.
    if (booting) this.process?.kill();
    await this.process?.shutdown();
  }

  private async boot(options: Omit<LoadOptions, 'path'>): Promise<Loaded> {
    const process = new RuntimeProcess(this.options.spawn('runtime'), {
      onEvents: (events) => {
        for (const event of events) this.onEvent(event);
      },
      onLoading: (phase, fraction) => this.options.onPhase(phase, fraction),
      onLog: (level, text) => this.options.log(level, text),
      onExit: (exit) => this.onExit(process, exit),
    });
    this.process = process;
    await process.ready;
    this.loaded = await process.call('load', { path: this.ref.path, ...options });
    this.watch(process);
    // A runtime that was started again is bound by what the one before was granted last.
    if (this.granted !== undefined) process.call('grant', { kvBytes: this.granted }).catch(() => undefined);
    return this.loaded;
  }

  /** A hang becomes a crash: what follows is the same. */
  private watch(process: RuntimeProcess): void {
    const hangMs = this.options.hangMs ?? HANG_MS;
    const isWorking = () => [...this.answers.values()].some((answer) => answer.sent);
    watchForHang(process, isWorking, hangMs, () => {
      this.options.log('warn', `the runtime of ${this.ref.name} has said nothing for ${hangMs / 1000} s; it is ended`);
      process.kill();
    });
  }

  private onEvent(event: GenerationEvent): void {
    const answer = this.answers.get(event.id);
    if (!answer) return;
    if (event.kind === 'end' && event.error && this.endsRuntime(event.error.code)) {
      return this.onDeviceFailure(HearthError.from(event.error));
    }
    answer.push(event);
    if (event.kind === 'end') this.forget(answer);
  }

  private endsRuntime(code: ErrorCode): boolean {
    return endsRuntime(code, graphicsIn(this.load).length > 0 && (this.options.mayLeaveDevice?.() ?? false));
  }

  /** Nothing can be done with this device any more in this process: it ends, and what follows is as after a crash. */
  private onDeviceFailure(error: HearthError): void {
    if (this.deviceError) return; // each of its requests tells
    this.options.log('warn', `${this.ref.name}: ${error.message} Its runtime is ended.`);
    this.deviceError = error;
    this.devices.failure = error;
    this.process?.kill();
  }

  /** Sends what the runtime has room for. */
  private pump(): void {
    while (this.state === 'ready' && this.process?.alive) {
      const sent = [...this.answers.values()].filter((answer) => answer.sent);
      if (sent.length >= this.options.slots) return;
      const next = nextWaiting(
        [...this.answers.values()].filter((answer) => !answer.sent),
        {
          waitedMs: (answer) => answer.waitedMs(),
          backgroundServed: sent.some((answer) => answer.priority === 'background'),
        },
      );
      if (!next) return;
      this.send(next, this.process);
    }
  }

  private send(answer: Answer, process: RuntimeProcess): void {
    answer.sent = true;
    process.call('generate', answer.toRequest()).catch((error: unknown) => {
      // A dead runtime is the exit's business: the request goes on in the next one.
      if (!process.alive) return;
      const failure = HearthError.from(error);
      if (this.endsRuntime(failure.code)) return this.onDeviceFailure(failure);
      answer.fail(failure);
      this.forget(answer);
    });
  }

  private forget(answer: Answer): void {
    if (!this.answers.delete(answer.id)) return;
    this.options.onChange();
    this.pump();
  }

  private onExit(process: RuntimeProcess, { code, signal }: HostExit): void {
    if (process !== this.process || (this.state !== 'ready' && this.state !== 'restarting')) return;
    this.options.onCrash();
    const cause = this.deviceError;
    this.deviceError = undefined;
    const lost = !this.stays && lostOneOfSeveral(cause, graphicsIn(this.load));
    if (!lost) this.crashes.push(Date.now());
    this.devices.crashes += 1;
    this.devices.leaves = leavesDevice(this.devices.crashes, lost);
    this.takeBack(cause, !lost);
    const decision = onCrash(this.crashes, Date.now());
    const next = decision.action === 'restart' ? `starting again in ${decision.afterMs} ms` : 'given up';
    this.options.log('warn', `the runtime of ${this.ref.name} ended (${signal ?? `exit code ${code}`}); ${next}`);
    if (decision.action === 'give_up') {
      this.fail(cause ?? new HearthError('runtime_crashed', `The model ${this.ref.name} crashed again and again.`));
      return;
    }
    this.setState('restarting');
    this.restartTimer = setTimeout(() => void this.restart(), decision.afterMs);
  }

  /** Requests that were with the dead runtime wait again, with their tokens. `cause`: what its device said before. `counts`: against them. */
  private takeBack(cause: HearthError | undefined, counts: boolean): void {
    for (const answer of [...this.answers.values()]) {
      if (!answer.sent) continue;
      answer.sent = false;
      if (counts) answer.crashes += 1;
      if (answer.ended || answer.cancelled) {
        answer.end('cancelled');
        this.forget(answer);
      } else if (!resumes(answer.crashes)) {
        const crashed = 'The model crashed several times while it worked on this request.';
        answer.fail(cause ?? new HearthError('runtime_crashed', crashed));
        this.forget(answer);
      }
    }
  }

  private async restart(): Promise<void> {
    if (this.devices.leaves) await this.leaveDevice(this.devices.failure);
    if (this.state !== 'restarting') return;
    try {
      // The context that the requests have seen, not what memory would allow now: else a chat could be cut elsewhere.
      await this.boot({ ...this.load, context: this.loaded?.context ?? this.load.context });
    } catch (thrown) {
      const error = HearthError.from(thrown);
      // A crash has come through onExit.
      if (this.state !== 'restarting' || !this.process?.alive) return;
      // What was a valid load before and is none now is a device that is gone.
      const code = error.code === 'invalid_request' ? 'device_unavailable' : error.code;
      const { device } = error;
      if (!isDeviceTrouble(code) || !(await this.leaveDevice({ code, device }))) {
        return this.fail(code === error.code ? error : new HearthError(code, error.message, { device, cause: error }));
      }
      await this.process.shutdown();
      return;
    }
    if (this.state !== 'restarting') return;
    this.setState('ready');
    this.pump();
  }

  /** True where the next boot is elsewhere. */
  private async leaveDevice(failure: DeviceFailure): Promise<boolean> {
    const elsewhere = graphicsIn(this.load).length > 0 ? await this.options.leaveDevice?.(failure) : undefined;
    this.stays = elsewhere === undefined;
    if (!elsewhere) return false;
    this.load = elsewhere;
    this.devices = fresh();
    return true;
  }

  private fail(error: HearthError): void {
    this.error = error;
    this.setState('failed');
    for (const answer of [...this.answers.values()]) {
      answer.fail(error);
      this.forget(answer);
    }
    void this.process?.shutdown();
  }

  private setState(state: HostState): void {
    if (this.state === 'closed') return;
    this.state = state;
    for (const wake of this.stateWaiters.splice(0)) wake();
    this.options.onChange();
  }
}

const fresh = () => ({ crashes: 0, failure: { code: 'runtime_crashed' as const }, leaves: false });

function notRunning(ref: ModelRef): HearthError {
  return new HearthError('runtime_crashed', `The model ${ref.name} is not running.`);
}
