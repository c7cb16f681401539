// One child: calls matched with their replies, everything that comes in checked against the contract, its end told once.
// It decides nothing: who restarts what is the host's business.
import {
  METHODS,
  runtimeMessage,
  type GenerationEvent,
  type LoadPhase,
  type LogLevel,
  type Method,
  type Params,
  type Result,
  type RuntimeMessage,
} from '../contract/runtime';
import { HearthError } from '../contract/errors';
import type { HostExit, HostHandle } from './host';

export interface ProcessListener {
  onEvents?(events: GenerationEvent[]): void;
  onLoading?(phase: LoadPhase, fraction: number): void;
  onLog?(level: LogLevel, text: string): void;
  onExit?(exit: HostExit): void;
}

interface Call {
  method: Method;
  resolve(value: unknown): void;
  reject(error: HearthError): void;
}

export interface Ready {
  pid: number;
  engineBuild: string;
}

/** How long a child has to say that it is there. */
const READY_MS = 60_000;
/** How long an orderly end may take before the child is killed. */
const SHUTDOWN_MS = 2_000;

export class RuntimeProcess {
  /** Rejects with runtime_crashed if the child ends first. */
  readonly ready: Promise<Ready>;
  readonly exited: Promise<HostExit>;
  /** Messages that have come from the child. */
  heard = 0;
  private readonly calls = new Map<number, Call>();
  private lastCall = 0;
  private dead = false;
  private settleReady!: { resolve(ready: Ready): void; reject(error: HearthError): void };

  constructor(
    private readonly host: HostHandle,
    private readonly listener: ProcessListener = {},
  ) {
    this.ready = new Promise((resolve, reject) => (this.settleReady = { resolve, reject }));
    const timer = setTimeout(() => this.kill(), READY_MS);
    this.ready.then(() => clearTimeout(timer)).catch(() => clearTimeout(timer));
    this.exited = new Promise((resolve) => {
      host.onExit((exit) => {
        this.onExit(exit);
        resolve(exit);
      });
    });
    host.onMessage((message) => this.onMessage(message));
  }

  get pid(): number | undefined {
    return this.host.pid;
  }

  get alive(): boolean {
    return !this.dead;
  }

  /** Rejects with the child's typed error, or `runtime_crashed` when it dies first. */
  call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    if (this.dead) return Promise.reject(crashed());
    const call = ++this.lastCall;
    return new Promise<Result<M>>((resolve, reject) => {
      this.calls.set(call, { method, resolve: resolve as (value: unknown) => void, reject });
      this.host.postMessage({ type: 'call', call, method, params });
    });
  }

  /** Asks for an orderly end, then insists. Resolves when the child is gone. */
  async shutdown(): Promise<void> {
    if (this.dead) return;
    const timer = setTimeout(() => this.kill(), SHUTDOWN_MS);
    this.call('shutdown', {}).catch(() => undefined);
    await this.exited;
    clearTimeout(timer);
  }

  kill(): void {
    if (this.dead) return;
    try {
      this.host.kill();
    } catch {
      // It has just ended by itself; its exit tells.
    }
  }

  private onMessage(raw: unknown): void {
    if (this.dead) return;
    this.heard += 1;
    const parsed = runtimeMessage.safeParse(raw);
    if (!parsed.success) {
      this.listener.onLog?.('error', `unreadable message from the runtime: ${parsed.error.message}`);
      return;
    }
    this.dispatch(parsed.data);
  }

  private dispatch(message: RuntimeMessage): void {
    switch (message.type) {
      case 'ready':
        this.settleReady.resolve({ pid: message.pid, engineBuild: message.engineBuild });
        return;
      case 'reply':
        this.onReply(message);
        return;
      case 'loading':
        this.listener.onLoading?.(message.phase, message.fraction);
        return;
      case 'events':
        this.listener.onEvents?.(message.events);
        return;
      case 'log':
        this.listener.onLog?.(message.level, message.text);
        return;
    }
  }

  private onReply(reply: Extract<RuntimeMessage, { type: 'reply' }>): void {
    const call = this.calls.get(reply.call);
    if (!call) return;
    this.calls.delete(reply.call);
    if (reply.error) {
      call.reject(HearthError.from(reply.error));
      return;
    }
    const result = METHODS[call.method].result.safeParse(reply.result);
    if (result.success) call.resolve(result.data);
    else call.reject(new HearthError('internal', `The runtime gave an unreadable answer to '${call.method}'.`));
  }

  private onExit(exit: HostExit): void {
    if (this.dead) return;
    this.dead = true;
    const error = crashed(exit);
    this.settleReady.reject(error);
    for (const call of this.calls.values()) call.reject(error);
    this.calls.clear();
    this.listener.onExit?.(exit);
  }
}

function crashed(exit?: HostExit): HearthError {
  const how = exit?.signal ? ` (${exit.signal})` : exit?.code ? ` (exit code ${exit.code})` : '';
  return new HearthError('runtime_crashed', `The process that runs the model ended unexpectedly${how}.`);
}
