// The runtime protocol: every message between main and a runtime (or the probe). Calls have one reply; events are batched per step.
// Both ends validate what they receive. Nothing here knows HTTP.
import { z } from 'zod';
import { chatInput, finishReason, sampling, timings, tokenLogprob, usage } from './chat';
import { errorShape } from './errors';

/** Variables of a child's environment: whom to outlive by no more than seconds (a process id), where the addon is. */
export const ENVIRONMENT = { parent: 'HEARTH_PARENT', addon: 'HEARTH_ADDON' } as const;

/** 'cpu', 'reference', or the id of a graphics device as `devices` gives it. */
const deviceId = z.string().regex(/^(cpu|reference|vulkan:[0-9a-f]{32})$/);

/** A layer whose experts, all of them or those of the list, the processor has in the machine's memory. */
export const servedLayer = z.object({ layer: z.int().min(0), experts: z.array(z.int().min(0)).min(1).optional() });
export type ServedLayer = z.infer<typeof servedLayer>;

/**
 * Several devices, the ranks, that share a model: whole layers in a row, every layer on all of them, or all of it on two, of which the
 * first reads prompts and hands them over.
 */
export const mesh = z.object({
  split: z.enum(['layers', 'tensor', 'handover']),
  ranks: z
    .array(
      z.object({
        device: deviceId,
        /** Of a processor; 0: as the load's. */
        threads: z.int().min(0).default(0),
        /** Of the work, beside the others'. */
        share: z.number().positive().default(1),
        /** In a row: so many; 0 on every rank: by share. */
        layers: z.int().min(0).default(0),
      }),
    )
    .min(1)
    .max(8),
  /** Layers whose experts the processor has in the machine's memory, beside the ranks: all of them, or those of a list. */
  served: z.array(servedLayer).default([]),
});
export type Mesh = z.infer<typeof mesh>;

export const loadOptions = z.object({
  path: z.string(),
  device: deviceId.default('cpu'),
  /** Instead of `device`. */
  mesh: mesh.optional(),
  precision: z.enum(['fast', 'exact']).default('fast'),
  /** What keys and values are kept in: q8 is about half of f16. 'auto': f16, and 32-bit floats in exact. */
  kvType: z.enum(['auto', 'f16', 'q8']).default('auto'),
  threads: z.int().min(0).default(0),
  /** Tokens that a sequence may hold; 0: the model's own, bounded by memory. */
  context: z.int().min(0).default(0),
  /** The broker's grant for KV in bytes; 0: the engine's own bound. */
  kvBytes: z.number().min(0).default(0),
  prefillChunk: z.int().min(1).default(512),
  yarnTruncate: z.boolean().default(false),
  /** Find the beginnings of prompts again. */
  prefixCache: z.boolean().default(true),
  /** A folder, and its bound in bytes, for what a restart shall find; empty or 0: none. */
  diskCachePath: z.string().default(''),
  diskCacheBytes: z.number().min(0).default(0),
  /** A folder for what graphics drivers have compiled; empty: none. */
  kernelCachePath: z.string().default(''),
});
export type LoadOptions = z.infer<typeof loadOptions>;

export const modelInfo = z.object({
  modelId: z.string(),
  path: z.string(),
  architecture: z.string(),
  name: z.string(),
  license: z.string(),
  parameters: z.number(),
  fileBytes: z.number(),
  quantization: z.string(),
  layers: z.int(),
  hidden: z.int(),
  vocabulary: z.int(),
  context: z.int(),
  experts: z.int(),
  expertsUsed: z.int(),
});
export type ModelInfo = z.infer<typeof modelInfo>;

/** What a model can do, found from its vocabulary and template and not from its name. */
export const abilities = z.object({
  chat: z.boolean(),
  reasoning: z.boolean(),
  tools: z.boolean(),
  harmony: z.boolean(),
});
export type Abilities = z.infer<typeof abilities>;

export const loaded = z.object({
  model: modelInfo,
  abilities,
  context: z.int(),
  /** Name of the engine elsewhere that has it; its address is then in `kernels`, and `model.modelId` is 'remote'. */
  remote: z.string().optional(),
  kernels: z.string(),
  /** The engine's sentence for each kernel that failed its self-test on this device and was replaced; absent: none. */
  replacedKernels: z.array(z.string()).optional(),
  /** Id of the device that computes. */
  device: z.string().optional(),
  precision: z.enum(['fast', 'exact']),
  /** What keys and values are kept in. */
  kvType: z.enum(['f32', 'f16', 'q8']).optional(),
  engineBuild: z.string(),
  defaultTemperature: z.number(),
  loadMs: z.number(),
});
export type Loaded = z.infer<typeof loaded>;

export const loadPhase = z.enum(['open', 'weights', 'tokenizer', 'warmup']);
export type LoadPhase = z.infer<typeof loadPhase>;

/** What only a graphics device has. 'software': it computes on the processor, and is used only where somebody names it. */
export const graphics = z.object({
  type: z.enum(['discrete', 'integrated', 'virtual', 'software', 'other']),
  uuid: z.string(),
  /** "0000:01:00.0"; empty where the driver does not tell. */
  pci: z.string(),
  driver: z.string(),
  /** Of Vulkan, "1.3". */
  api: z.string(),
  /** Its memory is the machine's. */
  unified: z.boolean(),
  /** The driver tells what others take; else the free memory is a guess. */
  budgetKnown: z.boolean(),
  /** Bytes. `budget`: what a process may use of it; `used`: by the process that looked. */
  heaps: z.array(z.object({ bytes: z.number(), budget: z.number(), used: z.number(), local: z.boolean() })),
  /** What it could do and is not used, with the reason. */
  off: z.array(z.object({ feature: z.string(), reason: z.string() })),
});
export type Graphics = z.infer<typeof graphics>;

export const device = z.object({
  /** "cpu", or one that stays the same across restarts. */
  id: z.string(),
  name: z.string(),
  kind: z.enum(['cpu', 'gpu']),
  memoryTotal: z.number(),
  memoryFree: z.number(),
  /** In use. */
  features: z.array(z.string()),
  cores: z.int(),
  graphics: graphics.optional(),
});
export type Device = z.infer<typeof device>;

export const stats = z.object({
  /** Bytes: weights are mapped from the file, KV and scratch are held. */
  weightBytes: z.number(),
  kvBytesUsed: z.number(),
  kvBytesTotal: z.number(),
  scratchBytes: z.number(),
  /** Taken of a graphics device's memory, weights and KV included. */
  deviceBytes: z.number().default(0),
  /** Of those, what the driver has moved to the machine's memory, where everything is slower. */
  spilledBytes: z.number().default(0),
  /** Of the runtime's process. */
  rssBytes: z.number(),
  rssAnonBytes: z.number(),
  /** Used by running requests; cached: used by nobody, can be found again or taken; free: the rest. */
  blocksUsed: z.int(),
  blocksCached: z.int(),
  blocksFree: z.int(),
  /** Prompt tokens that were found in the cache, and requests by why not more was. */
  cachedTokens: z.number(),
  /** Blocks brought up from the tiers below the pool, and handed down to them; what they hold. */
  blocksFetched: z.number(),
  blocksStored: z.number(),
  hostCacheBytes: z.number(),
  diskCacheBytes: z.number(),
  cacheMisses: z.record(z.string(), z.number()),
  running: z.int(),
  waiting: z.int(),
  promptTokens: z.number(),
  outputTokens: z.number(),
  requests: z.number(),
  prefillTps: z.number(),
  decodeTps: z.number(),
});
export type Stats = z.infer<typeof stats>;

/**
 * Of one layer: how often each of its experts was chosen since the load, and for how many rows in all. A layer whose choice never came
 * by the host has no rows.
 */
export const layerUses = z.object({ rows: z.number().min(0), experts: z.array(z.number().min(0)).max(1024) });
export type LayerUses = z.infer<typeof layerUses>;
export const expertUses = z.array(layerUses).max(1024);

export const generateInput = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('chat'), chat: chatInput }),
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('tokens'), tokens: z.array(z.int().min(0)) }),
]);

export const generate = z.object({
  id: z.string(),
  input: generateInput,
  sampling,
  /** Most output tokens of all channels together. */
  maxTokens: z.int().min(1).optional(),
  /** Most tokens of the final channel; thoughts do not count. */
  answerTokens: z.int().min(1).optional(),
  /** After so many tokens of thought the final answer is begun. */
  thoughtTokens: z.int().min(0).optional(),
  stop: z.array(z.string().min(1)).max(16).default([]),
  /** Alternatives per token; absent: no logprobs. */
  logprobs: z.int().min(0).max(20).optional(),
  /** Give the prompt back with its logprobs (text and token inputs only). */
  echo: z.boolean().default(false),
  priority: z.enum(['interactive', 'background']).default('interactive'),
  /** Prompts are shared in the cache only within a scope. */
  cacheScope: z.string().default(''),
  /** Keep at most the last so many turns of the chat; absent: everything that fits. Older ones are dropped, and said so. */
  keepTurns: z.int().min(1).optional(),
  /** Drop the oldest turns where the chat is too long, instead of refusing. */
  fit: z.boolean().default(false),
  /** Output tokens already given by a runtime that died: replayed silently. */
  resumeTokens: z.array(z.int().min(0)).optional(),
});
/** As a caller writes it, defaults left out. */
export type GenerateRequest = z.input<typeof generate>;

export const part = z.discriminatedUnion('channel', [
  z.object({ channel: z.literal('reasoning'), delta: z.string() }),
  z.object({ channel: z.literal('text'), delta: z.string() }),
  /** `id` and `name` come once per call, with its first part. */
  z.object({
    channel: z.literal('tool'),
    call: z.int(),
    id: z.string().optional(),
    name: z.string().optional(),
    delta: z.string(),
  }),
]);
export type Part = z.infer<typeof part>;

export const generationEvent = z.discriminatedUnion('kind', [
  /** Work begins; the prompt has been rendered. */
  z.object({
    kind: z.literal('start'),
    id: z.string(),
    promptTokens: z.int(),
    temperature: z.number(),
    droppedTurns: z.int(),
  }),
  z.object({ kind: z.literal('prefill'), id: z.string(), done: z.int(), total: z.int(), cached: z.int() }),
  z.object({
    kind: z.literal('parts'),
    id: z.string(),
    /** Output index of the first of `tokenIds`; a duplicate index is dropped by the receiver. */
    index: z.int(),
    tokenIds: z.array(z.int()),
    parts: z.array(part),
    logprobs: z.array(tokenLogprob).optional(),
  }),
  z.object({
    kind: z.literal('end'),
    id: z.string(),
    reason: finishReason,
    usage,
    timings,
    error: errorShape.optional(),
    /** The prompt and its logprobs, for `echo`. The first token has none. */
    echo: z.object({ text: z.string(), logprobs: z.array(tokenLogprob.nullable()) }).optional(),
  }),
]);
export type GenerationEvent = z.infer<typeof generationEvent>;

/** One measurement: every sequence reads a prompt of `prefill` tokens, then writes `decode` tokens after it. */
export const benchParams = z.object({
  prefill: z.int().min(1).default(512),
  decode: z.int().min(1).default(64),
  sequences: z.int().min(1).max(64).default(1),
  /** It ends then, with what it has; a rate that is not known is 0. */
  withinMs: z.int().min(1).optional(),
});
export const benchResult = z.object({
  prefillTps: z.number(),
  /** Of all sequences together. */
  decodeTps: z.number(),
  ttftMs: z.number(),
  tbtMs: z.object({ p50: z.number(), p95: z.number(), p99: z.number(), max: z.number() }),
  /** The most that the runtime held beside mapped files while it measured, and how much of it is KV. */
  peakAnonBytes: z.number(),
  kvBytes: z.number(),
  /** What the measured work asks of the machine: operations per prompt token, bytes per step of decode. */
  work: z.object({ prefillOps: z.number(), decodeBytes: z.number() }),
});
export type BenchResult = z.infer<typeof benchResult>;

/** What the machine can do at most, measured now: a shared machine is not the same from minute to minute. */
export const machineLimits = z.object({
  threads: z.int(),
  readBytesPerSecond: z.number(),
  /** Multiply and add count as two. Of a graphics device in floats; its `threads` are 0. */
  int8OpsPerSecond: z.number(),
  int8Kernel: z.string(),
});
export type MachineLimits = z.infer<typeof machineLimits>;

/**
 * The weights by what is done with them, in bytes: what a placement can put apart. Of `embedding` a token reads one row; `output` is read
 * whole for each (an embedding that serves as the output matrix is counted there). `shared`: everything of a layer but its experts.
 */
export const modelParts = z.object({
  embedding: z.number(),
  output: z.number(),
  layers: z.array(z.object({ shared: z.number(), experts: z.number(), group: z.int() })),
});
export type ModelParts = z.infer<typeof modelParts>;

/**
 * What a load takes of the memory, before it is tried. Weights are mapped; scratch is what a full step holds. Of the conversation, blocks
 * of `blockTokens` positions are held for each layer group (supervisor/fit.ts counts them): `windows` has a group's reach, 0: everything.
 */
export const memoryPlan = z.object({
  model: modelInfo,
  weightBytes: z.number(),
  scratchBytes: z.number(),
  /** The same on a graphics device that has the whole model. */
  deviceScratchBytes: z.number(),
  /**
   * Of one behind the first in a row of devices; and of one with a part of every layer, however small: the rest up to the whole goes by its
   * share. Absent: as the whole.
   */
  scratchOfParts: z.object({ row: z.number(), share: z.number() }).optional(),
  /** Of the weights, what writing one token reads. */
  decodeBytes: z.number(),
  parts: modelParts,
  kv: z.object({
    blockTokens: z.int(),
    prefillRows: z.int(),
    windows: z.array(z.int()),
    blockBytes: z.object({ f16: z.number(), q8: z.number() }),
  }),
  /** Devices that a layer can be shared out over, at least; absent: it cannot. */
  mostShares: z.int().optional(),
});
export type MemoryPlan = z.infer<typeof memoryPlan>;

const empty = z.object({});
const path = z.object({ path: z.string() });

/** Every method with what it takes and gives. */
export const METHODS = {
  // runtime with a model
  load: { params: loadOptions, result: loaded },
  generate: { params: generate, result: empty },
  cancel: { params: z.object({ id: z.string() }), result: empty },
  /** The broker's grant for KV has changed: cached blocks above it are given up at once. */
  grant: { params: z.object({ kvBytes: z.number().min(0) }), result: empty },
  /** Tokens of a rendered prompt, without generating. */
  count: { params: z.object({ input: generateInput }), result: z.object({ tokens: z.int() }) },
  tokenize: { params: z.object({ text: z.string() }), result: z.object({ tokens: z.array(z.int()) }) },
  detokenize: { params: z.object({ tokens: z.array(z.int()) }), result: z.object({ text: z.string() }) },
  logits: { params: z.object({ tokens: z.array(z.int()).min(1) }), result: z.object({ logits: z.array(z.number()) }) },
  bench: { params: benchParams, result: benchResult },
  /** Of the processor, or of a graphics device. */
  limits: {
    params: z.object({ threads: z.int().min(0).default(0), device: z.string().default('cpu') }),
    result: machineLimits,
  },
  stats: { params: empty, result: stats },
  /** Layer by layer; of a model without experts nothing. */
  expertUses: { params: empty, result: z.object({ layers: expertUses }) },
  /** Finishes running requests, hands unstarted ones back by id. */
  drain: { params: empty, result: z.object({ unstarted: z.array(z.string()) }) },
  shutdown: { params: empty, result: empty },
  // probe, without a model
  devices: {
    params: z.object({ kernelCachePath: z.string().default('') }),
    result: z.object({ devices: z.array(device), notes: z.array(z.string()) }),
  },
  plan: { params: path.extend({ prefillChunk: z.int().min(1).default(512) }), result: memoryPlan },
  identify: { params: path, result: z.object({ model: modelInfo, abilities }) },
  inspect: {
    params: path,
    result: z.object({
      model: modelInfo,
      abilities,
      warnings: z.array(z.string()),
      kvBytesPerToken: z.number(),
      tensors: z.array(z.object({ name: z.string(), type: z.string(), shape: z.array(z.number()), bytes: z.number() })),
    }),
  },
} as const;
export type Method = keyof typeof METHODS;
export type Params<M extends Method> = z.input<(typeof METHODS)[M]['params']>;
export type Result<M extends Method> = z.output<(typeof METHODS)[M]['result']>;

/** main → runtime */
export const callMessage = z.object({
  type: z.literal('call'),
  call: z.int(),
  method: z.string(),
  params: z.unknown(),
});
export type CallMessage = z.infer<typeof callMessage>;

export const logLevel = z.enum(['info', 'warn', 'error']);
export type LogLevel = z.infer<typeof logLevel>;

/** runtime → main */
export const runtimeMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), pid: z.int(), engineBuild: z.string() }),
  z.object({ type: z.literal('reply'), call: z.int(), result: z.unknown().optional(), error: errorShape.optional() }),
  z.object({ type: z.literal('loading'), phase: loadPhase, fraction: z.number() }),
  z.object({ type: z.literal('events'), events: z.array(generationEvent) }),
  z.object({ type: z.literal('log'), level: logLevel, text: z.string() }),
]);
export type RuntimeMessage = z.infer<typeof runtimeMessage>;
