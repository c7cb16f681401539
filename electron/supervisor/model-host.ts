// A model that can answer, wherever it runs: in a process on this machine (local-host.ts), or behind an address. Nothing that uses one
// knows which. An interface and no more.
import type { HearthError } from '../contract/errors';
import type { Loaded, Method, Params, Result, Stats } from '../contract/runtime';
import type { Answer } from './answer';
import type { ModelRef } from './types';

export type HostState = 'booting' | 'ready' | 'restarting' | 'failed' | 'closed';

/** Where a model runs. It calls back on its own when `state`, `running` or `waiting` changed: how, it is told when it is made. */
export interface ModelHost {
  readonly ref: ModelRef;
  readonly state: HostState;
  readonly loaded: Loaded | undefined;
  /** Why it is `failed`. */
  readonly error: HearthError | undefined;
  readonly running: number;
  readonly waiting: number;
  start(): Promise<Loaded>;
  /** Takes a request; its stream tells the rest. */
  take(answer: Answer): void;
  cancel(answer: Answer): void;
  call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>>;
  stats(): Promise<Stats>;
  /** The most that conversations may hold from now on, in bytes. Of a model elsewhere it is nobody's business. */
  grant(kvBytes: number): void;
  /** Ends running requests as cancelled and frees everything. */
  close(): Promise<void>;
}

/** What a host tells whoever made it. */
export interface HostListener {
  /** Something that others see of it has changed. */
  onChange(): void;
  onCrash(): void;
}
