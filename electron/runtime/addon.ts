// The typed door to the native engine: exactly what hearth.node exports, and the finding and loading of that file.
// It adds no behaviour of its own; only the runtime process may import it.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT } from '../contract/runtime';

/** The codes of native/include/hearth/error.h. Each is also in contract/errors.ts. */
export type NativeErrorCode =
  | 'bad_file'
  | 'incomplete_model'
  | 'unsupported_architecture'
  | 'unsupported_type'
  | 'file_not_found'
  | 'out_of_ram'
  | 'out_of_vram'
  | 'device_lost'
  | 'context_length_exceeded'
  | 'invalid_request'
  | 'numeric_error'
  | 'cancelled'
  | 'queue_full'
  | 'internal';

/** What the addon throws and rejects with, besides TypeError for arguments of a wrong type. */
export interface NativeError extends Error {
  code: NativeErrorCode;
  /** Bytes or tokens, where the message speaks of an amount. */
  needed?: number;
  available?: number;
}

/** Byte strings one behind the other: text i has the bytes [ends[i - 1], ends[i]), the first from 0. */
export interface NativeTexts {
  bytes: Uint8Array;
  ends: Uint32Array;
}

export interface NativeModelInfo {
  path: string;
  modelId: string;
  architecture: string;
  name: string;
  license: string;
  parameters: number;
  fileBytes: number;
  quantization: string;
  layers: number;
  hidden: number;
  vocabulary: number;
  context: number;
  experts: number;
  expertsUsed: number;
}

export interface NativeTokenizerData {
  /** 'gpt2' or 'llama'; '' when `tokenizerJson` names the source. */
  model: string;
  pre: string;
  tokens: NativeTexts;
  merges: NativeTexts;
  scores: Float32Array;
  /** 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte */
  types: Int32Array;
  /** Ids; -1 where the file names none. */
  bos: number;
  eos: number;
  unknown: number;
  padding: number;
  eosIds: number[];
  addBos: boolean;
  addEos: boolean;
  addSpacePrefix: boolean;
  chatTemplate: string;
  /** Path of tokenizer.json for Hugging Face folders, else ''. */
  tokenizerJson: string;
}

export interface NativeTensorInfo {
  name: string;
  type: string;
  /** Slowest dimension first. */
  shape: number[];
  bytes: number;
}

export interface NativeInspection {
  model: NativeModelInfo;
  tokenizer: NativeTokenizerData;
  tensors: NativeTensorInfo[];
  kvBytesPerToken: number;
  warnings: string[];
}

export interface NativeMemoryPlan {
  model: NativeModelInfo;
  tensors: NativeTensorInfo[];
  weightBytes: number;
  scratchBytes: number;
  deviceScratchBytes: number;
  scratchOfParts: { row: number; share: number };
  /** Of each layer, an index into `windows`. */
  layerGroups: number[];
  /** Devices that a layer can be shared out over, at least; 0 or 1: it cannot. */
  mostShares: number;
  blockTokens: number;
  prefillRows: number;
  windows: number[];
  blockBytes: { f16: number; q8: number };
}

export interface NativeGraphics {
  type: 'discrete' | 'integrated' | 'virtual' | 'software' | 'other';
  uuid: string;
  pci: string;
  driver: string;
  api: string;
  unified: boolean;
  budgetKnown: boolean;
  heaps: { bytes: number; budget: number; used: number; local: boolean }[];
  off: { feature: string; reason: string }[];
}

export interface NativeDevice {
  id: string;
  name: string;
  kind: 'cpu' | 'gpu';
  memoryTotal: number;
  memoryFree: number;
  features: string[];
  cores: number;
  graphics?: NativeGraphics;
}

export interface NativeDevices {
  devices: NativeDevice[];
  notes: string[];
}

/** Several devices, the ranks, that share a model. */
export interface NativeMesh {
  /** 'layers' (default): in a row; 'tensor': every layer on all of them; 'handover': the first of two reads prompts, the second writes. */
  split?: 'layers' | 'tensor' | 'handover';
  /** `share`: of the work, beside the others' (default 1). `layers`: so many; 0 on every rank: by share. */
  ranks: { device: string; threads?: number; share?: number; layers?: number }[];
  /** Layers whose experts the processor has in the machine's memory, beside the ranks: all of them, or those of a list. */
  served?: { layer: number; experts?: number[] }[];
}

export interface NativeLoadOptions {
  modelPath: string;
  /** 'cpu' (default), 'reference', or the id of a graphics device. */
  device?: string;
  /** Several devices instead of that one. */
  mesh?: NativeMesh;
  precision?: 'exact' | 'fast';
  /** 'auto' (default): float32 in exact, f16 in fast. Exact refuses the others. */
  kvType?: 'auto' | 'f16' | 'q8';
  threads?: number;
  context?: number;
  kvBytes?: number;
  prefillChunk?: number;
  maxSequences?: number;
  maxWaiting?: number;
  streamGapMs?: number;
  promptLookup?: boolean;
  yarnTruncate?: boolean;
  /** Find the beginnings of prompts again; on where absent. */
  prefixCache?: boolean;
  /** Bytes of plain memory for blocks that leave the pool; no use on the CPU. */
  hostCacheBytes?: number;
  /** A folder, and its bound, for blocks that a restart shall find. */
  diskCachePath?: string;
  diskCacheBytes?: number;
  /** A folder for what graphics drivers have compiled. */
  kernelCachePath?: string;
}

export interface NativeSampling {
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  logitBias?: [token: number, bias: number][];
  /** 64 bits; a number must be a safe integer >= 0. */
  seed?: number | bigint;
  /** Absent or -1: none; n (0..20): the chosen token's and those of the n most likely tokens. */
  logprobs?: number;
}

export interface NativeRequest {
  /** A safe integer >= 0, unique among the live requests of this engine. */
  id: number;
  prompt: number[] | Int32Array;
  resumeTokens?: number[] | Int32Array;
  sampling?: NativeSampling;
  /** Most output tokens, resume tokens included; 0 or absent: until the context is full. */
  maxTokens?: number;
  stopTokens?: number[] | Int32Array;
  bannedTokens?: number[] | Int32Array;
  /** Before output token `pauseAt` the row waits for guide(). */
  pauseAt?: number;
  promptLogprobs?: boolean;
  priority?: number;
  /** false: nothing is found in the prefix cache, and nothing kept for others. */
  useCache?: boolean;
  /** Prompts are found again only within a scope. */
  cacheScope?: string;
  /** Prompt lengths at which later prompts may go another way. */
  cutPoints?: number[] | Int32Array;
}

/** The host's word on output token `index` of a paused request. At most one of `forced` and `mask`. */
export interface NativeGuide {
  index: number;
  forced?: number[] | Int32Array;
  /** Bit t set: token t is allowed; (vocabulary + 31) >> 5 words. */
  mask?: Uint32Array | Int32Array;
  pauseAt?: number;
}

export interface NativeTokenLogprob {
  token: number;
  logprob: number;
}

/** Why not more of a prompt was found in the cache. */
export type NativeCacheMiss =
  'none' | 'too_short' | 'no_entry' | 'other_scope' | 'window_gone' | 'evicted' | 'not_wanted';

export type NativeFinishReason = 'stop' | 'length' | 'repetition' | 'cancelled' | 'error';

export type NativeEvent =
  | {
      kind: 'prefill';
      id: number;
      /** Milliseconds since its step ended. */
      agoMs?: number;
      /** Prompt tokens read so far, of `total`; `cached` of them came from the prefix cache. */
      index: number;
      total: number;
      cached: number;
      cacheMiss: NativeCacheMiss;
      /** With promptLogprobs, on the last prefill event: entry i is about prompt token i + 1. */
      promptLogprobs?: NativeTokenLogprob[];
      promptTop?: NativeTokenLogprob[][];
    }
  | {
      kind: 'token';
      id: number;
      /** Output index, counted from 0 over resume tokens and new ones. */
      index: number;
      token: number;
      forced: boolean;
      /** Milliseconds since its step ended. */
      agoMs?: number;
      logprob?: number;
      top?: NativeTokenLogprob[];
    }
  | { kind: 'paused'; id: number; index: number }
  | {
      kind: 'finished';
      id: number;
      /** Output tokens in all, resume tokens included. */
      total: number;
      cached: number;
      cacheMiss: NativeCacheMiss;
      reason: NativeFinishReason;
      /** `device`: the one whose failure it is. */
      error?: { code: NativeErrorCode; message: string; device?: string };
    };

export interface NativeStats {
  weightBytes: number;
  kvBytesUsed: number;
  kvBytesTotal: number;
  scratchBytes: number;
  deviceBytes: number;
  spilledBytes: number;
  /** Used by running requests; cached: used by nobody, can be found again or taken; free: the rest. */
  blocksUsed: number;
  blocksCached: number;
  blocksFree: number;
  /** Prompt tokens that were found in the cache. */
  cachedTokens: number;
  /** Blocks brought up from the tiers below the pool, and handed down to them; what they hold. */
  blocksFetched: number;
  blocksStored: number;
  hostCacheBytes: number;
  diskCacheBytes: number;
  /** Requests by why not more was found. */
  cacheMisses: Record<NativeCacheMiss, number>;
  running: number;
  waiting: number;
  promptTokens: number;
  outputTokens: number;
  requests: number;
  /** Times that a request gave its KV up and was computed again. */
  preemptions: number;
  /** Speculative rows computed, and those that became tokens. */
  drafted: number;
  accepted: number;
  prefillTps: number;
  decodeTps: number;
}

/** How often experts were chosen since the load, in layers whose choice reaches the host. */
export interface NativeExpertUses {
  layers: number;
  /** 0: the model has none. */
  experts: number;
  /** [layers * experts] */
  uses: Float64Array;
  /** [layers]: for so many rows experts were chosen. */
  rows: Float64Array;
}

export interface NativeEngineInfo {
  model: NativeModelInfo;
  /** Tokens that one sequence may hold (prompt and output together). */
  context: number;
  /** e.g. 'cpu/avx512' */
  kernels: string;
  /** A sentence for each kernel that failed its self-test and was replaced. */
  notes: string[];
  build: string;
}

/** One loaded model. After close() every method but close() throws `invalid_request`. */
export interface NativeEngine {
  info(): NativeEngineInfo;
  stats(): NativeStats;
  expertUses(): NativeExpertUses;
  /** Throws `context_length_exceeded` or `invalid_request` before any work. */
  submit(request: NativeRequest): void;
  guide(id: number, guide: NativeGuide): void;
  /** A `finished` event with reason `cancelled` follows; unknown ids are ignored. */
  cancel(id: number): void;
  /** The KV pool may hold so many bytes from now on, at most what it was loaded with. */
  setKvGrant(bytes: number): void;
  /** Called with the events of one or more steps, in order; one handler, null removes it. Set it before submit(). */
  setEventHandler(handler: ((events: NativeEvent[]) => void) | null): void;
  /** Logits [vocabulary] after the last token. */
  logits(tokens: number[] | Int32Array): Promise<Float32Array>;
  /** All rows, [tokens * vocabulary]. */
  allLogits(tokens: number[] | Int32Array): Promise<Float32Array>;
  /** Ends running requests as cancelled and frees everything; may be called twice. */
  close(): Promise<void>;
}

export type NativeLoadPhase = 'open' | 'weights' | 'warmup';

/** A load under way. `cancel` makes `engine` reject with code `cancelled`. */
export interface NativeLoad {
  engine: Promise<NativeEngine>;
  cancel(): void;
}

export interface NativeMachineLimits {
  threads: number;
  /** Sustained reading from memory, all threads together. */
  readBytesPerSecond: number;
  /** int8 multiply and add counted as two operations, all threads together, and the instructions that were timed. */
  int8OpsPerSecond: number;
  int8Kernel: string;
}

export interface Addon {
  inspect(path: string): Promise<NativeInspection>;
  identify(path: string): Promise<NativeModelInfo>;
  /** What a load with these options takes of the memory; reads the header only. */
  planMemory(options: NativeLoadOptions): Promise<NativeMemoryPlan>;
  /** The folder is that of `NativeLoadOptions`. */
  devices(kernelCachePath?: string): Promise<NativeDevices>;
  engineBuild(): string;
  load(options: NativeLoadOptions, onProgress?: (phase: NativeLoadPhase, fraction: number) => void): NativeLoad;
  /** Measures for about `seconds` (default 1) on `threads` threads (default: every physical core), or a graphics device. */
  machineLimits(options?: { threads?: number; seconds?: number; device?: string }): Promise<NativeMachineLimits>;
}

/** prebuilds/<platform>-<arch>/hearth.node in the nearest parent folder that has it, outside an asar archive. */
export function addonPath(from: string = dirname(fileURLToPath(import.meta.url))): string | null {
  const override = process.env[ENVIRONMENT.addon];
  if (override) return resolve(override);
  const relative = join('prebuilds', `${process.platform}-${process.arch}`, 'hearth.node');
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, relative).replace(/app\.asar(?=[\\/])/, 'app.asar.unpacked');
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) return null;
  }
}

/** Node keeps what it has loaded. Throws a plain Error that names the missing file when the engine was not built. */
export function loadAddon(): Addon {
  const path = addonPath();
  if (!path)
    throw new Error(`The native engine is not built: no prebuilds/${process.platform}-${process.arch}/hearth.node`);
  return createRequire(import.meta.url)(path) as Addon;
}
