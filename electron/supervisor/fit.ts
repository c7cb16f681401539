// Will it fit: what a model takes of the memory with a context, what that leaves, how fast it would write, and which contexts to offer.
// Pure: sizes come from the probe's plan, free memory and bandwidth from whoever asks. It loads nothing and grants nothing (broker.ts).
import type { Fit, LoadChoice, Verdict } from '../contract/models';
import type { Graphics, MemoryPlan } from '../contract/runtime';

export type KvType = 'f16' | 'q8';

/** Of the machine's memory, and of a graphics device's, never given away. */
export const RESERVE_BYTES = 1e9;
export const GPU_RESERVE_BYTES = 512e6;
/** With less to spare than this, what other programs do next decides. */
const TIGHT_BYTES = 5e8;
/** A runtime without its engine: the process, and what its vocabulary becomes in the two threads that tokenize. As measured. */
const PROCESS_BYTES = 45e6;
const VOCABULARY_BYTES = 500;
/** What a graphics driver takes in the process that uses it. */
const DRIVER_BYTES = 75e6;
/** On a graphics device rows are padded, and memory is taken in blocks of which a little stays empty. */
const DEVICE_SHARE = 0.01;
const DEVICE_BLOCK_BYTES = 64e6;
/** Of the weights of a model that uses few of its experts at a time, so many may stay on the disk and it still answers at a fair speed. */
const COLD_SHARE = 0.25;
/** What decoding gets of the bandwidth that plain reading gets, and what a disk gives of weights that find no room. */
const BANDWIDTH_SHARE = 0.7;
const DISK_BYTES_PER_SECOND = 1e9;
/** A conversation of this length is what the expected speed is told for. */
const SPOKEN_TOKENS = 2048;
/** Where nobody asks for a context: at least so much, and of the memory at most this share for conversations. */
export const LEAST_CONTEXT = 16_384;
const KV_SHARE = 1 / 4;
/** A card's memory is there for little else. */
const CARD_KV_SHARE = 3 / 4;

/** A memory that a model can be loaded into: the machine's, or that of `gpu`. */
export interface Room {
  totalBytes: number;
  /** Free now, or freed by unloading what is ours to unload. */
  freeBytes: number;
  /** Of that, what our own models hold now. */
  ownBytes: number;
  /** Where less than what is free may be taken: of a device that uses the machine's memory, what its driver allows. */
  mostBytes?: number;
  readBytesPerSecond?: number;
  /** Small integers, or floats, that it multiplies and adds. */
  opsPerSecond?: number;
  gpu?: Gpu;
}

export interface Gpu {
  id: string;
  name: string;
  type: Graphics['type'];
  /** Its memory is the machine's. */
  unified: boolean;
}

export const kvShareOf = (gpu: Gpu | undefined): number => (gpu && !gpu.unified ? CARD_KV_SHARE : KV_SHARE);

export const reserveOf = ({ gpu }: Room): number => (gpu && !gpu.unified ? GPU_RESERVE_BYTES : RESERVE_BYTES);

/** What models may take of it. */
export const usableBytes = (room: Room): number =>
  Math.max(0, Math.min(room.freeBytes - reserveOf(room), room.mostBytes ?? Infinity));

/** What is known of this model from use here; and of the machine. */
export interface Experience {
  /** Held beside weights and conversation, at the most. */
  heldBytes?: number;
  /** On a graphics device: everything of the model but the conversation. */
  deviceBytes?: number;
  decodeTps?: number;
  readBytesPerSecond?: number;
}

/** Bytes of one conversation of `context` tokens, at its peak: the engine's own count (native GroupReach::peak). */
export function kvBytesOf({ kv }: MemoryPlan, context: number, kvType: KvType): number {
  const all = Math.ceil(context / kv.blockTokens);
  const blocks = kv.windows.map((window) =>
    window === 0 ? all : Math.min(all, Math.ceil((window - 1 + kv.prefillRows) / kv.blockTokens) + 1),
  );
  return blocks.reduce((sum, count) => sum + count, 0) * kv.blockBytes[kvType];
}

/** The longest context, of whole blocks and at most the model's own, whose conversation fits into `bytes`. */
export function contextWithin(plan: MemoryPlan, bytes: number, kvType: KvType): number {
  const { blockTokens } = plan.kv;
  const most = plan.model.context;
  if (kvBytesOf(plan, most, kvType) <= bytes) return most;
  let fits = 0;
  let tooLong = Math.ceil(most / blockTokens);
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (kvBytesOf(plan, middle * blockTokens, kvType) <= bytes) fits = middle;
    else tooLong = middle;
  }
  return fits * blockTokens;
}

/** Held beside the weights and the conversation: working space and the process itself. */
export function heldBytesOf(plan: MemoryPlan, experience: Experience = {}): number {
  return experience.heldBytes ?? PROCESS_BYTES + VOCABULARY_BYTES * plan.model.vocabulary + plan.scratchBytes;
}

/** The same on a graphics device, without the process. */
export function deviceHeldBytesOf(
  plan: MemoryPlan,
  { deviceBytes }: Experience = {},
  type: Gpu['type'] = 'discrete',
): number {
  const { weightBytes, deviceScratchBytes } = plan;
  if (deviceBytes !== undefined) return Math.max(0, deviceBytes - weightBytes);
  // Of software, what is not written takes nothing.
  return deviceScratchBytes + weightBytes * DEVICE_SHARE + (type === 'software' ? 0 : DEVICE_BLOCK_BYTES);
}

/** Of the machine's memory, where the model is on graphics devices. */
export const processBytesOf = ({ model }: MemoryPlan): number =>
  PROCESS_BYTES + VOCABULARY_BYTES * model.vocabulary + DRIVER_BYTES;

/** What a load takes of the memory that it computes in, and of the machine's beside that. */
export interface Load {
  weightBytes: number;
  /** Working space; on the processor the process as well. */
  heldBytes: number;
  /** Of the machine's memory, where the model is elsewhere. */
  hostBytes: number;
  /** Of the weights, what may lack room where nothing else can be done. */
  coldBytes: number;
}

export function loadOf(plan: MemoryPlan, gpu: Gpu | undefined, experience: Experience = {}): Load {
  const { weightBytes } = plan;
  if (!gpu)
    return { weightBytes, heldBytes: heldBytesOf(plan, experience), hostBytes: 0, coldBytes: coldBytesOf(plan) };
  const process = experience.heldBytes ?? processBytesOf(plan);
  const heldBytes = deviceHeldBytesOf(plan, experience, gpu.type);
  // Of one memory there is one sum.
  return gpu.unified
    ? { weightBytes, heldBytes: heldBytes + process, hostBytes: 0, coldBytes: 0 }
    : { weightBytes, heldBytes, hostBytes: process, coldBytes: 0 };
}

/** Bytes of the weights that may lack room. A model that reads all of its weights for each token needs them all. */
export function coldBytesOf({ model, weightBytes }: MemoryPlan): number {
  return model.experts > model.expertsUsed ? weightBytes * COLD_SHARE : 0;
}

/** Where nobody asks for a context: how much memory conversations get at least and at most. `bytes`: what is left beside the rest. */
export function automaticKv(
  plan: MemoryPlan,
  kvType: KvType,
  bytes: number,
  slots: number,
  share = KV_SHARE,
): { min: number; max: number } {
  const min = kvBytesOf(plan, Math.min(plan.model.context, LEAST_CONTEXT), kvType);
  const most = kvBytesOf(plan, plan.model.context, kvType) * slots;
  return { min, max: Math.max(min, Math.min(most, Math.floor(bytes * share))) };
}

export function fitOf(
  plan: MemoryPlan,
  { context, kvType }: { context: number; kvType: KvType },
  room: Room,
  experience: Experience = {},
): Fit {
  const kvBytes = kvBytesOf(plan, context, kvType);
  const { weightBytes, heldBytes, coldBytes } = loadOf(plan, room.gpu, experience);
  const spareBytes = usableBytes(room) - weightBytes - kvBytes - heldBytes;
  return {
    verdict: verdictOf(coldBytes, spareBytes),
    context,
    weightBytes,
    kvBytes,
    scratchBytes: heldBytes,
    otherBytes: Math.max(0, room.totalBytes - room.freeBytes),
    freeBytes: room.freeBytes,
    totalBytes: room.totalBytes,
    spareBytes,
    device: room.gpu && !room.gpu.unified ? 'vram' : 'ram',
    ...(room.gpu && { gpu: room.gpu.name }),
    ...speedOf(plan, kvType, spareBytes, experience),
    measured: experience.decodeTps !== undefined,
  };
}

function verdictOf(coldBytes: number, spareBytes: number): Verdict {
  if (spareBytes >= TIGHT_BYTES) return 'fits';
  return spareBytes >= -coldBytes ? 'tight' : 'too_big';
}

/** Tokens per second: every token reads its weights and the conversation once, and from the disk what finds no room. */
function speedOf(
  plan: MemoryPlan,
  kvType: KvType,
  spareBytes: number,
  { decodeTps, readBytesPerSecond }: Experience,
): { decodeTps?: number } {
  if (decodeTps !== undefined) return { decodeTps };
  if (!readBytesPerSecond) return {};
  const spoken = kvBytesOf(plan, Math.min(plan.model.context, SPOKEN_TOKENS), kvType);
  const missing = Math.min(1, Math.max(0, -spareBytes) / Math.max(1, plan.weightBytes));
  const seconds =
    (plan.decodeBytes + spoken) / (readBytesPerSecond * BANDWIDTH_SHARE) +
    (missing * plan.decodeBytes) / DISK_BYTES_PER_SECOND;
  return { decodeTps: 1 / seconds };
}

/** The bandwidth with which a model would be so fast. */
export function bandwidthFor(plan: MemoryPlan, decodeTps: number): number {
  const spoken = kvBytesOf(plan, Math.min(plan.model.context, SPOKEN_TOKENS), 'f16');
  return (decodeTps * (plan.decodeBytes + spoken)) / BANDWIDTH_SHARE;
}

/** The choices of the load dialog, each once, and the one that is taken where nobody chooses. */
export function choicesOf(
  plan: MemoryPlan,
  room: Room,
  experience: Experience = {},
): { choices: LoadChoice[]; recommended: LoadChoice['id'] } {
  const { weightBytes, heldBytes } = loadOf(plan, room.gpu, experience);
  const left = Math.max(0, usableBytes(room) - heldBytes - weightBytes);
  const usual = contextWithin(plan, automaticKv(plan, 'f16', left, 1, kvShareOf(room.gpu)).max, 'f16');
  const wanted: Omit<LoadChoice, 'fit'>[] = [
    { id: 'balanced', context: usual, kvType: 'f16' },
    { id: 'long_memory', ...longest(plan, left) },
    { id: 'small', context: Math.min(usual, 4096), kvType: 'q8' },
  ];
  const choices = wanted
    .filter(
      (choice, index) =>
        wanted.findIndex(({ context, kvType }) => context === choice.context && kvType === choice.kvType) === index,
    )
    .map((choice) => ({ ...choice, fit: fitOf(plan, choice, room, experience) }));
  const recommended = choices.find(({ fit }) => fit.verdict === 'fits') ?? choices.at(-1);
  return { choices, recommended: recommended?.id ?? 'small' };
}

/** As long as the model was made for, at half the precision where only that fits. */
function longest(plan: MemoryPlan, bytes: number): { context: number; kvType: KvType } {
  const whole = plan.model.context;
  if (kvBytesOf(plan, whole, 'f16') <= bytes) return { context: whole, kvType: 'f16' };
  const context = Math.max(contextWithin(plan, bytes, 'q8'), Math.min(whole, plan.kv.blockTokens));
  return { context, kvType: 'q8' };
}
