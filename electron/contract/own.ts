// The app's own API under /hearth/v1: what the page and the CLI exchange with main, always behind the app's token.
import { z } from 'zod';
import { effort, finishReason, timings, usage } from './chat';
import { errorCodes, errorShape } from './errors';
import { download, fit, folderKind, regression, verification } from './models';
import { abilities, device, loadPhase, modelInfo } from './runtime';

// Models

export const modelState = z.enum(['available', 'loading', 'ready', 'failed', 'unloading']);

export const modelEntry = z.object({
  /** Name in the API (library/names.ts). */
  name: z.string(),
  info: modelInfo.optional(),
  abilities: abilities.optional(),
  path: z.string(),
  fileBytes: z.number(),
  /** Ships with Hearth. */
  builtin: z.boolean(),
  state: modelState,
  /** The kind of folder in which it lies; absent for what ships or was opened by path. */
  folder: folderKind.optional(),
  aliases: z.array(z.string()).optional(),
  verification: verification.optional(),
  fit: fit.optional(),
  lastUsedAt: z.number().optional(),
  /** Tokens per second, measured here. */
  decodeTps: z.number().optional(),
  /** Name of the remote engine that has it; such a model is never loaded here. */
  remote: z.string().optional(),
  /** Why it cannot be used (a broken file), or why its last load failed. */
  error: errorShape.optional(),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** A model that is loaded or on its way, and what is happening to it. */
export const activeModel = z.object({
  name: z.string(),
  state: modelState,
  phase: loadPhase.optional(),
  fraction: z.number().optional(),
  info: modelInfo.optional(),
  abilities: abilities.optional(),
  context: z.int().optional(),
  kernels: z.string().optional(),
  /** The engine's sentence for each kernel that failed its self-test there and was replaced. */
  replacedKernels: z.array(z.string()).optional(),
  /** What it computes on: 'cpu', or a graphics device with its name. */
  device: z.string().optional(),
  gpu: z.string().optional(),
  /** A device failed, with this driver, and how: it runs without it, on the processor or on those that `gpu` names. */
  fallback: z.object({ device: z.string(), driver: z.string(), code: z.enum(errorCodes) }).optional(),
  /** Bytes that its device has no room for any more, so that it is slow. */
  spilledBytes: z.number().optional(),
  defaultTemperature: z.number().optional(),
  /** Name of the remote engine that has it. */
  remote: z.string().optional(),
  /** What got worse since the last good row of the matrix. */
  regression: regression.optional(),
  /** Requests that it works on, and those that wait for it. */
  running: z.int().optional(),
  waiting: z.int().optional(),
  /** Held beside the mapped weights, and the most that the conversation may take of it now. */
  heldBytes: z.number().optional(),
  weightBytes: z.number().optional(),
  kvGrantBytes: z.number().optional(),
  lastUsedAt: z.number().optional(),
  error: errorShape.optional(),
});
export type ActiveModel = z.infer<typeof activeModel>;

export const failedLoad = z.object({ model: z.string(), error: errorShape, at: z.number() });
export type FailedLoad = z.infer<typeof failedLoad>;

/** GET /hearth/v1/state, and each event of GET /hearth/v1/state/events (sent when something changed, at most once a second). */
export const appState = z.object({
  version: z.string(),
  engineBuild: z.string().optional(),
  url: z.string(),
  /** Where the user's own models go. */
  modelsFolder: z.string().optional(),
  active: activeModel.optional(),
  /** Every model that is loaded, `active` first. */
  loaded: z.array(activeModel).default([]),
  /** A swap under way: which model comes when the answers that run have ended, and about when. */
  swap: z
    .object({ to: z.string(), runningOn: z.string().optional(), waiting: z.int(), etaMs: z.number().optional() })
    .optional(),
  /** What was in the foreground before: one click leads back. */
  previous: z.string().optional(),
  /** The last load that failed, until the next one begins. What served before it goes on serving, and has no part in it. */
  failed: failedLoad.optional(),
  downloads: z.array(download).default([]),
  memory: z.object({
    /** Held by the engine: KV, scratch and what it touched of the mapped weights. */
    engineBytes: z.number(),
    kvBytesUsed: z.number(),
    kvBytesTotal: z.number(),
    weightBytes: z.number(),
    systemTotal: z.number(),
    systemFree: z.number(),
    /** 'vram': of the card that the model in the foreground is on. */
    device: z.enum(['ram', 'vram']),
    /** Of that card: taken by the engine, and by others; and how much there is. */
    card: z.object({ engineBytes: z.number(), otherBytes: z.number(), totalBytes: z.number() }).optional(),
  }),
  /** Tokens per second now (0 when idle) and of the last answer. */
  decodeTps: z.number(),
  lastDecodeTps: z.number(),
  prefillTps: z.number(),
  running: z.int(),
  waiting: z.int(),
  requestsServed: z.number(),
  /** Another number: the list of models, or what is known of one, has changed. */
  modelsVersion: z.int().default(0),
  devices: z.array(device),
});
export type AppState = z.infer<typeof appState>;

/** 'auto', 'cpu', or the id of a graphics device. */
export const deviceName = z.string().regex(/^(auto|cpu|vulkan:[0-9a-f]{32})$/);

export const loadRequest = z.object({
  model: z.string(),
  context: z.int().min(0).optional(),
  kvType: z.enum(['auto', 'f16', 'q8']).optional(),
  device: deviceName.optional(),
});
export type LoadRequest = z.infer<typeof loadRequest>;

/** Absent: the one in the foreground. A load that is under way ends. */
export const unloadRequest = z.object({ model: z.string().optional() });

// Settings

export const answerLength = z.enum(['short', 'medium', 'long', 'unlimited']);
export type AnswerLength = z.infer<typeof answerLength>;
/** Tokens of the final channel; undefined: as long as needed. */
export const ANSWER_TOKENS: Record<AnswerLength, number | undefined> = {
  short: 128,
  medium: 512,
  long: 1024,
  unlimited: undefined,
};

export const creativity = z.enum(['precise', 'balanced', 'imaginative']);
export type Creativity = z.infer<typeof creativity>;
/** Temperature; undefined: the model's default. */
export const CREATIVITY_TEMPERATURE: Record<Creativity, number | undefined> = {
  precise: 0.3,
  balanced: undefined,
  imaginative: 1.2,
};

export const memory = z.enum(['turns3', 'turns10', 'turns30', 'all']);
export type Memory = z.infer<typeof memory>;
/** Turns of the chat that are read; undefined: everything that fits. */
export const MEMORY_TURNS: Record<Memory, number | undefined> = { turns3: 3, turns10: 10, turns30: 30, all: undefined };

/** Most tokens of thought, after which the final answer is begun. */
export const THOUGHT_TOKENS = { low: 512, medium: 2048, high: 8192 } as const;

export const chatSettings = z.object({
  answerLength: answerLength.default('unlimited'),
  creativity: creativity.default('balanced'),
  memory: memory.default('all'),
  effort: effort.default('medium'),
  /** The user's standing instructions (the API's system prompt). */
  instructions: z.string().max(100_000).default(''),
});
export type ChatSettings = z.infer<typeof chatSettings>;

export const settings = z.object({
  language: z.enum(['auto', 'en', 'zh-CN']).default('auto'),
  theme: z.enum(['auto', 'light', 'dark']).default('auto'),
  /** For new chats. */
  chat: chatSettings.prefault({}),
  lastModel: z.string().optional(),
  /** Browser origins that may use /v1. */
  allowedOrigins: z.array(z.string()).default([]),
  /** No socket off this machine. */
  offline: z.boolean().default(false),
  /** Where the hub is asked; empty: huggingface.co. */
  hubMirror: z.string().default(''),
  /** http://, https:// or socks5://; empty: none. */
  proxy: z.string().default(''),
  /** A token for the hub is kept. It is written with `hubToken` and never given back. */
  hubTokenSet: z.boolean().default(false),
  /** Further folders with models. */
  modelFolders: z.array(z.object({ id: z.string(), path: z.string(), kind: folderKind })).default([]),
  /** Other names of models, by alias. */
  aliases: z.record(z.string(), z.string()).default({}),
  /** Minutes without a request after which a model is unloaded; 0: never. */
  idleUnloadMinutes: z.int().min(0).default(0),
  /** Where models are loaded, where a load does not say it. */
  device: deviceName.default('auto'),
  /** Models are never loaded on the processor, and never come back there when a card fails. */
  gpuRequired: z.boolean().default(false),
});
export type Settings = z.infer<typeof settings>;
/** `hubToken` is stored apart from the settings; an empty one takes it away. Folders and aliases have routes of their own. */
export const settingsPatch = settings
  .omit({ hubTokenSet: true, modelFolders: true, aliases: true })
  .partial()
  .extend({ hubToken: z.string().optional() });
export type SettingsPatch = Partial<Omit<Settings, 'hubTokenSet' | 'modelFolders' | 'aliases'>> & { hubToken?: string };

// Chats

export const messageStatus = z.enum(['complete', 'streaming', 'stopped', 'interrupted', 'error']);

/** Which weights and which kernel gave an answer. */
export const receipt = z.object({
  model: z.string(),
  modelId: z.string(),
  engineBuild: z.string(),
  /** Devices and placement, e.g. "cpu/avx512 fast". */
  mesh: z.string(),
  requestId: z.string(),
  seed: z.number(),
  temperature: z.number(),
  effort: effort.optional(),
  date: z.string().optional(),
  droppedTurns: z.int(),
});
export type Receipt = z.infer<typeof receipt>;

export const message = z.object({
  id: z.string(),
  chatId: z.string(),
  /** Null: the first message. Messages with one parent are versions of each other. */
  parentId: z.string().nullable(),
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  reasoning: z.string(),
  status: messageStatus,
  finishReason: finishReason.optional(),
  error: errorShape.optional(),
  usage: usage.optional(),
  timings: timings.optional(),
  receipt: receipt.optional(),
  createdAt: z.number(),
});
export type Message = z.infer<typeof message>;

export const chat = z.object({
  id: z.string(),
  title: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  deletedAt: z.number().nullable(),
  /** The last message of the branch in view. */
  headId: z.string().nullable(),
  settings: chatSettings,
  /** The date in this chat's prompts (fixed, so that its prefix stays the same). */
  date: z.string(),
});
export type Chat = z.infer<typeof chat>;

export const chatWithMessages = chat.extend({
  messages: z.array(message),
  /** Turn being generated, to attach to. */
  turn: z.string().optional(),
});
export type ChatWithMessages = z.infer<typeof chatWithMessages>;

export const chatPatch = z.object({
  title: z.string().min(1).max(200).optional(),
  headId: z.string().optional(),
  settings: chatSettings.partial().optional(),
});
export type ChatPatch = z.infer<typeof chatPatch>;

export const createChat = z.object({
  title: z.string().max(200).optional(),
  settings: chatSettings.partial().optional(),
});

/** POST /hearth/v1/chats/:id/turns. With `regenerate` the answer to that user message is written again, as a new version. */
export const turnRequest = z.union([
  z.object({ text: z.string().min(1), parentId: z.string().nullable().optional(), model: z.string().optional() }),
  z.object({ regenerate: z.string(), model: z.string().optional() }),
]);
export type TurnRequest = z.infer<typeof turnRequest>;

export const turnStarted = z.object({ turn: z.string(), user: message, assistant: message });
export type TurnStarted = z.infer<typeof turnStarted>;

/** One entry of a turn's log; `GET /hearth/v1/turns/:id/events?cursor=N` gives those from N on, as server-sent events with id N. */
export const turnEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('waiting'), reason: z.enum(['loading', 'queue']), ahead: z.int() }),
  z.object({ kind: z.literal('start'), promptTokens: z.int(), droppedTurns: z.int() }),
  z.object({ kind: z.literal('prefill'), done: z.int(), total: z.int(), cached: z.int() }),
  z.object({ kind: z.literal('reasoning'), delta: z.string() }),
  z.object({ kind: z.literal('text'), delta: z.string() }),
  z.object({ kind: z.literal('title'), title: z.string() }),
  z.object({ kind: z.literal('end'), message }),
]);
export type TurnEvent = z.infer<typeof turnEvent>;

/** server.json in the data directory: where the running Hearth is. Mode 0600. */
export const serverFile = z.object({ url: z.string(), token: z.string(), pid: z.int(), version: z.string() });
export type ServerFile = z.infer<typeof serverFile>;
