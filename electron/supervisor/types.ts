// What the rest of main sees of the supervisor: models by reference, generations as streams of events. No processes, no messages.
import type { ActiveModel } from '../contract/own';
import type { Device, GenerateRequest, GenerationEvent, Loaded, Params, Result, Stats } from '../contract/runtime';

/** A model that the library found. Two references with one path are one model. */
export interface ModelRef {
  name: string;
  /** Of a model elsewhere, whatever tells it from all others. */
  path: string;
  /** Id of the remote engine that has it; absent: it is on this machine. */
  remote?: string;
}

export type GenerateWork = Omit<GenerateRequest, 'id' | 'resumeTokens'> & { id?: string };

export interface Supervisor {
  /** The model in the foreground, or the one being loaded. */
  active(): ActiveModel | undefined;
  loaded(): Loaded | undefined;
  /** Latest numbers of the active runtime, sampled about once a second while somebody watches; undefined without a model. */
  stats(): Stats | undefined;
  /** Told at every change of `active` and at every new sample. Returns how to stop. */
  watch(listener: () => void): () => void;
  queue(): { running: number; waiting: number; served: number };

  /**
   * Makes `model` the active one. Running answers finish on the old model; a failed load leaves the old model serving.
   * Throws HearthError. Calls for the same model share one load.
   */
  load(model: ModelRef): Promise<Loaded>;
  unload(): Promise<void>;

  /**
   * Generates on `model`, loading it first if it is not the active one. The stream ends with one `end` event; errors before
   * `start` are thrown, later ones are in `end`. A runtime that dies is started again and the generation goes on from its tokens.
   * Aborting `signal` cancels within 300 ms.
   */
  generate(model: ModelRef, work: GenerateWork, signal?: AbortSignal): AsyncIterable<GenerationEvent>;

  /** A call to the runtime of `model` (loading it first): count, tokenize, detokenize, logits, bench, limits. */
  call<M extends 'count' | 'tokenize' | 'detokenize' | 'logits' | 'bench' | 'limits'>(
    model: ModelRef,
    method: M,
    params: Params<M>,
  ): Promise<Result<M>>;

  probe: Probe;
  /** Ends every child process. */
  close(): Promise<void>;
}

/** Looks at files and devices in a process of its own that is restarted when it crashes. */
export interface Probe {
  devices(): Promise<{ devices: Device[]; notes: string[] }>;
  identify(path: string): Promise<Result<'identify'>>;
  inspect(path: string): Promise<Result<'inspect'>>;
  /** What a load would take of the memory. */
  plan(path: string, prefillChunk?: number): Promise<Result<'plan'>>;
  /** What the machine can do at most: takes about a second, and all of the processor. */
  limits(): Promise<Result<'limits'>>;
}
