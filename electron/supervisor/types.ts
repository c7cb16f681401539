// What the rest of main sees of the supervisor: models by reference, generations as streams of events. No processes, no messages.
import type { LoadPlan } from '../contract/models';
import type { ActiveModel, AppState, FailedLoad } from '../contract/own';
import type {
  Device,
  GenerateRequest,
  GenerationEvent,
  Loaded,
  MemoryPlan,
  Params,
  Result,
  Stats,
} from '../contract/runtime';
import type { Room } from './fit';
import type { Known } from './terms';

/** A model that the library found. Two references with one path are one model. */
export interface ModelRef {
  name: string;
  /** Of a model elsewhere, whatever tells it from all others. */
  path: string;
  /** Id of the remote engine that has it; absent: it is on this machine. */
  remote?: string;
}

export type GenerateWork = Omit<GenerateRequest, 'id' | 'resumeTokens'> & { id?: string };

/** How somebody wants a model loaded; what is left out is chosen by the memory that there is. */
export interface LoadWish {
  context?: number | undefined;
  kvType?: 'auto' | 'f16' | 'q8' | undefined;
  /** 'auto', 'cpu', or the id of a graphics device; left out: as the settings say. */
  device?: string | undefined;
}

export interface Supervisor {
  /** The model in the foreground, or the one being loaded. */
  active(): ActiveModel | undefined;
  /** Every model that is in memory, the one in the foreground first. */
  models(): ActiveModel[];
  /** Of the model in the foreground, or of the one named, where it is in memory. */
  loaded(model?: ModelRef): Loaded | undefined;
  /** A model waits for answers of another one to end. */
  swap(): AppState['swap'];
  /** Name of the model that was in the foreground before. */
  previous(): string | undefined;
  /** The last load that failed, until the next one begins. */
  failed(): FailedLoad | undefined;
  /** Latest numbers of all runtimes together, sampled about once a second while somebody watches; undefined without a model. */
  stats(): Stats | undefined;
  /** Told at every change of `active` and at every new sample. Returns how to stop. */
  watch(listener: () => void): () => void;
  /** Memory of the card that the model in the foreground is on, in bytes; undefined where it is on none. */
  card(): { engineBytes: number; otherBytes: number; totalBytes: number } | undefined;
  queue(): { running: number; waiting: number; served: number };

  /**
   * Makes `model` the one in the foreground. What the broker can grant both stays in memory; else running answers finish first. A
   * failed load leaves the old model serving. A context or KV type other than the loaded one's loads it anew. Throws HearthError.
   */
  load(model: ModelRef, wish?: LoadWish): Promise<Loaded>;
  /** The load under way ends, or the one that waits for room. */
  cancelLoad(): void;
  /** Running answers of the model end as cancelled. Absent: the one in the foreground, and every load. */
  unload(model?: ModelRef): Promise<void>;
  /** Whether the model will fit, and what it would replace: on this device, else where it would be loaded. Throws HearthError. */
  plan(model: ModelRef, device?: string): Promise<LoadPlan>;
  /** The memory that it would be loaded into now, and what is known of it there. */
  fitRoom(model: ModelRef): Promise<Known & { room: Room }>;
  /** The same of a model that is not here. */
  roomFor(plan: MemoryPlan): Promise<Room>;
  /** What its file asks of the memory, and what loads of it really took here. */
  known(model: ModelRef): Promise<Known>;
  /** What is free of the machine's memory for models, and how fast it is read: for estimates of models that are not here. */
  room(): Promise<Room>;
  /** Models that nobody has used for so long are unloaded; 0: never. */
  setIdleUnload(minutes: number): void;

  /**
   * Generates on `model`, loading it first where it is not in memory. The stream ends with one `end` event; errors before
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
  /** What the processor, or a graphics device, can do at most: takes about a second, and all of it. */
  limits(device?: string): Promise<Result<'limits'>>;
}
