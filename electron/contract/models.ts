// Models as main and the page speak of them: where they lie, whether they fit, how they are fetched, what was measured, and the remote
// engines beside them. Schemas only; the addresses are in routes.ts. All sizes are bytes, all times milliseconds (since 1970 for dates).
import { z } from 'zod';
import { errorShape } from './errors';
import { servedLayer } from './runtime';

// Folders

/** Whose layout a folder has. Only what lies in `own` is ever deleted. */
export const folderKind = z.enum(['own', 'user', 'huggingface', 'lmstudio', 'ollama']);
export type FolderKind = z.infer<typeof folderKind>;

/** What was passed over in a folder, so that nobody looks for it in vain. */
export const folderNote = z.object({
  code: z.enum(['link_outside', 'too_many_entries', 'too_deep', 'bad_manifest', 'unreadable']),
  /** Within the folder. */
  path: z.string(),
});
export type FolderNote = z.infer<typeof folderNote>;

/** GET /hearth/v1/folders */
export const modelFolder = z.object({
  id: z.string(),
  path: z.string(),
  kind: folderKind,
  /** It can be read now; an unplugged disk is not. */
  present: z.boolean(),
  models: z.int(),
  bytes: z.number(),
  freeBytes: z.number().optional(),
  /** Found on this computer and not yet added: offered, with nothing read from it. */
  suggested: z.boolean(),
  /** At most twenty. */
  notes: z.array(folderNote).default([]),
});
export type ModelFolder = z.infer<typeof modelFolder>;

export const addFolder = z.object({ path: z.string().min(1) });

/** A location that can be moved: a verified copy, then a switch. */
export const locationKind = z.enum(['models', 'cache', 'chats']);
export type LocationKind = z.infer<typeof locationKind>;
export const moveRequest = z.object({ what: locationKind, to: z.string().min(1) });
export type MoveRequest = z.infer<typeof moveRequest>;
/** Where each lies now, and what it holds. */
export const location = z.object({ what: locationKind, path: z.string(), bytes: z.number() });
export type Location = z.infer<typeof location>;
export const moveState = z.object({
  what: locationKind,
  from: z.string(),
  to: z.string(),
  doneBytes: z.number(),
  totalBytes: z.number(),
  phase: z.enum(['copying', 'verifying', 'switching', 'done', 'failed']),
  error: errorShape.optional(),
});
export type MoveState = z.infer<typeof moveState>;

// Identity

/** Whether the whole content was hashed, and what came out. `matches`: equal to what the hub told. */
export const verification = z.object({
  state: z.enum(['unknown', 'waiting', 'hashing', 'hashed', 'matches', 'differs']),
  /** Of the bytes, while hashing. */
  fraction: z.number().optional(),
  /** SHA-256 of each file's content, by file name. */
  sha256: z.record(z.string(), z.string()).optional(),
});
export type Verification = z.infer<typeof verification>;

// Will it fit

export const verdict = z.enum(['fits', 'tight', 'too_big', 'unknown']);
export type Verdict = z.infer<typeof verdict>;

/** What a model would take, loaded with `context`, of a memory of which `freeBytes` are free: the bar's parts. */
export const fit = z.object({
  verdict,
  context: z.int(),
  /** `weights` of mapped files are given back under pressure, and still must be read: without room they are slow. */
  weightBytes: z.number(),
  /** The conversation: keys and values. */
  kvBytes: z.number(),
  /** Working space. */
  scratchBytes: z.number(),
  /** Held by other programs. */
  otherBytes: z.number(),
  /** Free now, or freed by unloading what would be unloaded. */
  freeBytes: z.number(),
  totalBytes: z.number(),
  /** What remains (≥ 0), or is lacking (< 0). */
  spareBytes: z.number(),
  device: z.enum(['ram', 'vram']),
  /** Name of the graphics device that it would run on; absent: the processor. */
  gpu: z.string().optional(),
  /** From measured bandwidth, or from use here where `measured`. */
  decodeTps: z.number().optional(),
  measured: z.boolean(),
  /** Of a file that is not here: from its size, and from what is known of its family. */
  estimated: z.boolean().optional(),
});
export type Fit = z.infer<typeof fit>;

/** Where the parts of a model go: all in one place, layers and experts apart, or all of it twice. The page has a sentence for each kind. */
export const placementKind = z.enum([
  'gpu',
  'experts_in_ram',
  'layers_in_ram',
  'layers_and_experts_in_ram',
  'layer_split',
  'tensor_parallel',
  'gpus_and_ram',
  'handover',
  'cpu',
]);
export type PlacementKind = z.infer<typeof placementKind>;

/** What one device has of a model, in bytes. */
export const placementShare = z.object({
  device: z.string(),
  name: z.string(),
  kind: z.enum(['gpu', 'cpu']),
  /** Layers whose attention is here; of a layer shared out, `fraction` of it. */
  layers: z.int(),
  fraction: z.number(),
  /** Experts that are here, of all its layers. */
  experts: z.int(),
  weightBytes: z.number(),
  kvBytes: z.number(),
  scratchBytes: z.number(),
});
export type PlacementShare = z.infer<typeof placementShare>;

export const placement = z.object({
  kind: placementKind,
  shares: z.array(placementShare),
  /** Layers whose experts are not, or not all, with them but in the machine's memory; absent: none. */
  served: z.array(servedLayer).optional(),
  /** Expected, or measured: writing, and reading a prompt. */
  decodeTps: z.number(),
  prefillTps: z.number(),
  /** Left of the device that has least left, and of the machine's memory where it is used. */
  spareBytes: z.number(),
});
export type Placement = z.infer<typeof placement>;

/** Why a model is loaded where it is: it was named, is expected to be fastest, was measured to be (of the ways to share it over its cards), there is no card, none has room for it, one is required. */
export const deviceWhy = z.enum(['chosen', 'fastest', 'measured', 'no_gpu', 'too_small', 'required']);
export type DeviceWhy = z.infer<typeof deviceWhy>;

/** GET /hearth/v1/models/plan?model=NAME&device=ID (absent: where it would be loaded by itself): the three automatic choices of the load dialog, best first, and what is loaded by default. */
export const loadChoice = z.object({
  id: z.enum(['balanced', 'long_memory', 'small']),
  context: z.int(),
  kvType: z.enum(['f16', 'q8']),
  fit,
});
export type LoadChoice = z.infer<typeof loadChoice>;
export const loadPlan = z.object({
  model: z.string(),
  choices: z.array(loadChoice),
  recommended: loadChoice.shape.id,
  /** Models that must be unloaded first, by name. */
  unloads: z.array(z.string()),
  /** What it would be loaded onto, 'cpu' or a graphics device, and why; and what could be named instead. */
  device: z.string().optional(),
  why: deviceWhy.optional(),
  /** Of the recommended choice, where it fits there. */
  placement: placement.optional(),
  devices: z.array(z.object({ id: z.string(), name: z.string().optional() })).default([]),
  /** Name of the engine elsewhere that has it: it takes nothing of this machine's memory, and there is nothing to choose. */
  remote: z.string().optional(),
});
export type LoadPlan = z.infer<typeof loadPlan>;

// Discover

export const qualityWord = z.enum(['small', 'good', 'very_good', 'best']);

export const hubFile = z.object({
  /** Path in the repository; of a split model the first part. */
  path: z.string(),
  /** All parts together. */
  bytes: z.number(),
  parts: z.int(),
  quantization: z.string(),
  quality: qualityWord,
  fit: fit.optional(),
  /** Name in the API of the copy that is here already. */
  local: z.string().optional(),
});
export type HubFile = z.infer<typeof hubFile>;

export const hubModel = z.object({
  /** OWNER/NAME on the hub. */
  repo: z.string(),
  title: z.string(),
  /** One plain sentence, in English and Chinese, of the built-in catalogue. */
  summary: z.object({ en: z.string(), zh: z.string() }).optional(),
  licence: z.string().optional(),
  architecture: z.string().optional(),
  parameters: z.number().optional(),
  downloads: z.number().optional(),
  likes: z.number().optional(),
  updatedAt: z.number().optional(),
  /** Asks for a token or an agreement. */
  gated: z.boolean(),
  /** From the built-in catalogue; shown first. */
  featured: z.boolean(),
  /** Absent until asked for by repository. */
  files: z.array(hubFile).optional(),
  /** Path of the file to take for somebody who does not choose. */
  suggested: z.string().optional(),
});
export type HubModel = z.infer<typeof hubModel>;

/** GET /hearth/v1/discover?q=&cursor= ; GET /hearth/v1/discover/repo?repo=OWNER/NAME → HubModel with files */
export const discoverResult = z.object({
  models: z.array(hubModel),
  cursor: z.string().optional(),
  /** Why only the catalogue was searched. */
  offline: z.enum(['setting', 'unreachable']).optional(),
});
export type DiscoverResult = z.infer<typeof discoverResult>;

// Downloads

export const downloadRequest = z.object({
  repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
  file: z.string().min(1),
  revision: z.string().optional(),
});
export type DownloadRequest = z.infer<typeof downloadRequest>;

export const downloadPhase = z.enum([
  'queued',
  'fetching',
  'reconnecting',
  'verifying',
  'repairing',
  'paused',
  'done',
  'failed',
]);

export const downloadSource = z.enum(['hub', 'disk', 'hearth']);
export type DownloadSource = z.infer<typeof downloadSource>;

export const download = z.object({
  id: z.string(),
  source: downloadSource.default('hub'),
  /** Of an import: the name of its folder. */
  repo: z.string(),
  file: z.string(),
  phase: downloadPhase,
  /** Verified or stored; never falls, but where `restarted` says why. */
  doneBytes: z.number(),
  totalBytes: z.number(),
  bytesPerSecond: z.number(),
  etaMs: z.number().optional(),
  /** Of the bytes, while they are verified. */
  fraction: z.number().optional(),
  /** The file was changed on the hub meanwhile, and was begun anew. */
  restarted: z.boolean().optional(),
  error: errorShape.optional(),
  /** Name in the API, once it is done. */
  model: z.string().optional(),
});
export type Download = z.infer<typeof download>;

/** A file, or a folder with models, on a disk of this computer: copied into the models folder and compared. */
export const importRequest = z.object({ path: z.string().min(1) });

/** GET /hearth/v1/connections: every connection that ever left this machine, newest first. */
export const connection = z.object({
  /** Of the last one, where several in a row are told as one. */
  at: z.number(),
  count: z.int().default(1),
  host: z.string(),
  purpose: z.enum(['search', 'download', 'remote_engine', 'lan_import']),
  detail: z.string(),
  bytes: z.number(),
  /** 'refused': offline mode was on, no socket was opened. */
  outcome: z.enum(['ok', 'failed', 'refused']),
});
export type Connection = z.infer<typeof connection>;

// Remote engines

export const remoteEngineRequest = z.object({
  name: z.string().min(1).max(60),
  /** Of its /v1. */
  url: z.url({ protocol: /^https?$/ }),
  /** Never given back. */
  key: z.string().optional(),
});
export type RemoteEngineRequest = z.infer<typeof remoteEngineRequest>;
export const remoteEngine = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  hasKey: z.boolean(),
  health: z.object({
    state: z.enum(['unknown', 'ok', 'slow', 'unreachable', 'refused']),
    latencyMs: z.number().optional(),
    checkedAt: z.number().optional(),
    error: errorShape.optional(),
  }),
  models: z.array(z.string()),
});
export type RemoteEngine = z.infer<typeof remoteEngine>;

// Compatibility matrix

/** What is compared with the last good row. `tokens`: the answers to the fixed prompts. */
export const measure = z.enum(['loadMs', 'prefillTps', 'decodeTps', 'ttftMs', 'memoryBytes', 'tokens']);
export type Measure = z.infer<typeof measure>;

export const selfCheck = z.enum(['passed', 'changed', 'failed', 'none']);
export type SelfCheck = z.infer<typeof selfCheck>;

/** One cell: this model with this build on this device, as checked or as used. */
export const matrixRow = z.object({
  model: z.string(),
  modelId: z.string(),
  engineBuild: z.string(),
  /** Device, kernels and precision, e.g. "cpu/avx2 fast". */
  device: z.string(),
  kvType: z.string(),
  /** Tokens of prompt and answer: the upper bound of the bucket. 0: loaded, and not used yet. */
  contextBucket: z.int(),
  loadMs: z.number().optional(),
  prefillTps: z.number().optional(),
  decodeTps: z.number().optional(),
  ttftMs: z.number().optional(),
  /** Held beside mapped files; measured by a check alone, since in use it grows with what is cached. */
  memoryBytes: z.number().optional(),
  /** Of the fixed prompts at temperature 0: as expected, changed since they were recorded, not the same twice, or never checked. */
  selfCheck,
  /** Mean KL divergence from the exact path, in nats. */
  kl: z.number().optional(),
  /** What got worse since the last good row. */
  regressions: z.array(measure),
  source: z.enum(['check', 'use']),
  at: z.number(),
});
export type MatrixRow = z.infer<typeof matrixRow>;

/** With `accept`, changed tokens become the expected ones. */
export const matrixCheckRequest = z.object({ model: z.string(), accept: z.boolean().default(false) });

export const checkPhase = z.enum(['waiting', 'loading', 'tokens', 'exact', 'speed']);
export type CheckPhase = z.infer<typeof checkPhase>;

/** A check under way, or the last one of a model. */
export const matrixCheck = z.object({
  model: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  phase: checkPhase,
  /** The first one of this artifact here: its tokens are what later ones are compared with. */
  recorded: z.boolean().optional(),
  /** Why there is no comparison with the exact path. */
  exactError: errorShape.optional(),
  row: matrixRow.optional(),
  error: errorShape.optional(),
});
export type MatrixCheck = z.infer<typeof matrixCheck>;

/** GET /hearth/v1/matrix */
export const matrixReply = z.object({ rows: z.array(matrixRow), checks: z.array(matrixCheck) });
export type MatrixReply = z.infer<typeof matrixReply>;

/** Of a loaded model: what got worse, and what it was better with. The way back is that build, or that version of the model. */
export const regression = z.object({
  measures: z.array(measure),
  good: z.object({ engineBuild: z.string(), modelId: z.string(), at: z.number() }).optional(),
  /** Name of a model that is here and is the good version: loading it is the way back. */
  rollback: z.string().optional(),
});
export type Regression = z.infer<typeof regression>;
