// What the rest of main sees of the store: every call answers with a promise, because the database lives in a worker thread.
// Plain data in and out; ids and times are given by the caller, so that nothing here depends on a clock or on chance.
import type { SelfCheck } from '../contract/models';
import type { ErrorShape } from '../contract/errors';
import type { Chat, ChatPatch, Message, Settings } from '../contract/own';
import type { Abilities, LayerUses, ModelInfo, ServedLayer } from '../contract/runtime';

/** A key of the API as it is kept: never the key itself. */
export interface ApiKey {
  id: string;
  name: string;
  /** The last four characters, to tell keys apart on a screen. */
  hint: string;
  createdAt: number;
  lastUsedAt: number | null;
}

export interface Measurement {
  at: number;
  /** What was measured, e.g. "bench" or "bandwidth". */
  kind: string;
  /** What it belongs to: a model id, a device id. */
  subject: string;
  values: Record<string, unknown>;
}

/** What an artifact was run with. */
export interface MatrixKey {
  modelId: string;
  engineBuild: string;
  /** Device, kernels and precision. */
  device: string;
  kvType: string;
  contextBucket: number;
  source: 'check' | 'use';
}

export type MatrixName = 'loadMs' | 'prefillTps' | 'decodeTps' | 'ttftMs' | 'memoryBytes';

/** One measurement for a cell. What it leaves out stays as it was. */
export interface MatrixSample extends MatrixKey {
  model: string;
  values: Partial<Record<MatrixName, number>>;
  selfCheck?: SelfCheck;
  kl?: number;
  at: number;
}

/** A cell as it is kept: the latest `KEPT_SAMPLES` values of each name, oldest first. */
export interface MatrixCell extends MatrixKey {
  model: string;
  samples: Partial<Record<MatrixName, number[]>>;
  selfCheck: SelfCheck;
  kl?: number;
  at: number;
}

export interface ExpectedTokensKey {
  modelId: string;
  device: string;
  kvType: string;
  /** Name of the set of prompts: another set has other answers. */
  prompts: string;
}

export interface ExpectedTokens extends ExpectedTokensKey {
  /** SHA-256 of the tokens, by prompt. */
  hashes: Record<string, string>;
  engineBuild: string;
  at: number;
}

/** An engine elsewhere. `key` is a secret: it goes to its host and nowhere else, and is never logged. */
export interface StoredEngine {
  id: string;
  name: string;
  url: string;
  key?: string;
  createdAt: number;
}

/** What the probe said of the model at `path`, while its files have this fingerprint. */
export interface KnownModel {
  path: string;
  print: string;
  info?: ModelInfo;
  abilities?: Abilities;
  error?: ErrorShape;
}

/** Hash of a file's content, while it has this size and time. */
export interface FileHash {
  path: string;
  size: number;
  mtimeMs: number;
  sha256?: string;
  /** What its origin says: the hub, or the name that a cache gave it. */
  expected?: string;
}

export interface ModelUse {
  modelId: string;
  lastUsedAt: number;
  decodeTps?: number;
}

/** How often experts of a model were used here, layer by layer, and which had no place beside their layers at its last load. */
export interface StoredUses {
  modelId: string;
  layers: LayerUses[];
  served: ServedLayer[];
  at: number;
}

/** What the library remembers over a restart. */
export interface LibraryMemory {
  models: KnownModel[];
  hashes: FileHash[];
  uses: ModelUse[];
}

export interface ChatFilter {
  /** Words that a title or a text contains; at most 200 characters count. */
  query?: string;
  /** Deleted chats instead of the others. */
  deleted?: boolean;
}

/** A question and the answer that is about to be written, stored together or not at all. */
export interface BeginTurn {
  chatId: string;
  /** Absent: another version of an answer, its question is there already. */
  user?: Message;
  assistant: Message;
  title?: string;
  at: number;
}

/** What was written since the last call, in the order of writing. */
export interface MessageDelta {
  parts: { channel: 'reasoning' | 'text'; delta: string }[];
  tokenIds: number[];
}

/** The calls of the worker. Errors are HearthErrors; an unknown id is `not_found`. */
export interface StoreCalls {
  settings(): Settings;
  patchSettings(patch: Partial<Settings>): Settings;

  /** Newest first. */
  listChats(filter?: ChatFilter): Chat[];
  createChat(chat: Chat): Chat;
  /** Deleted ones too. */
  getChat(id: string): Chat | undefined;
  patchChat(id: string, patch: ChatPatch): Chat;
  /** All versions, oldest first. */
  messages(chatId: string): Message[];
  /** To the trash: `restoreChat` takes it back. */
  trashChat(id: string, at: number): void;
  restoreChat(id: string): Chat;
  /** Ends chats that were deleted before `before`, for good. Gives how many. */
  purgeChats(before: number): number;

  beginTurn(turn: BeginTurn): void;
  /** The answer's last state. Its text is what `message` says, whatever was appended before. */
  finishMessage(message: Message): void;

  /** `hash`: SHA-256 of the key in hex. */
  addKey(key: Omit<ApiKey, 'lastUsedAt'> & { hash: string }): void;
  listKeys(): ApiKey[];
  removeKey(id: string): boolean;
  /** Whether any key is set, and the key with this hash. */
  checkKey(hash: string | undefined, at: number): { any: boolean; id?: string };

  addMeasurement(measurement: Measurement): void;
  /** Newest first. */
  measurements(kind: string, subject?: string): Measurement[];

  addToMatrix(sample: MatrixSample): void;
  /** Newest first. */
  matrixCells(): MatrixCell[];
  expectedTokens(key: ExpectedTokensKey): ExpectedTokens | undefined;
  setExpectedTokens(expected: ExpectedTokens): void;

  /** `invalid_request` where the name is taken. */
  addRemoteEngine(engine: StoredEngine): void;
  /** In the order in which they were added. */
  remoteEngines(): StoredEngine[];
  removeRemoteEngine(id: string): boolean;
  libraryMemory(): LibraryMemory;
  saveModels(models: KnownModel[]): void;
  saveHashes(hashes: FileHash[]): void;
  /** What was remembered of these paths: of models and of files. */
  forgetModels(paths: string[]): void;
  saveUse(use: ModelUse): void;
  /** Undefined: nobody counted. */
  expertUses(modelId: string): Pick<StoredUses, 'layers' | 'served'> | undefined;
  /** Takes the place of what was known of the model. */
  saveExpertUses(uses: StoredUses): void;

  /** Schema version of the file. */
  version(): number;
}

/** How far a move of the file is: the copy is one half of its bytes, comparing it the other. */
export interface MoveShare {
  phase: 'copying' | 'verifying';
  doneBytes: number;
}

type Later<T> = { [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never };

export interface Store extends Later<StoreCalls> {
  /** Keeps what an answer has grown by; written within `FLUSH_MS`, so that a killed process loses no more than that. */
  append(messageId: string, delta: MessageDelta): void;
  /** Moves the file; `change` is written as the switch. Throws disk_full or disk_error, with everything as it was. */
  moveTo(path: string, change: { path: string; text: string }, told?: (share: MoveShare) => void): Promise<void>;
  /** Writes everything that waits, then ends the worker. */
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  /** File of the database; its folder exists. */
  path: string;
  /** Milliseconds between two writes of a growing answer. */
  flushMs?: number;
}

export const FLUSH_MS = 250;
