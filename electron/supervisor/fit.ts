// Will it fit: what a model takes of the memory with a context, what that leaves, how fast it would write, and which contexts to offer.
// Pure: sizes come from the probe's plan, free memory and bandwidth from whoever asks. It loads nothing and grants nothing (broker.ts).
import type { Fit, LoadChoice, Verdict } from '../contract/models';
import type { MemoryPlan } from '../contract/runtime';

export type KvType = 'f16' | 'q8';

/** Of the machine's memory, never given away. */
export const RESERVE_BYTES = 1e9;
/** With less to spare than this, what other programs do next decides. */
const TIGHT_BYTES = 5e8;
/** A runtime without its engine: the process, and what its vocabulary becomes in the two threads that tokenize. As measured. */
const PROCESS_BYTES = 45e6;
const VOCABULARY_BYTES = 500;
/** Of the weights of a model that uses few of its experts at a time, so many may stay on the disk and it still answers at a fair speed. */
const COLD_SHARE = 0.25;
/** What decoding gets of the bandwidth that plain reading gets, and what a disk gives of weights that find no room. */
const BANDWIDTH_SHARE = 0.7;
const DISK_BYTES_PER_SECOND = 1e9;
/** A conversation of this length is what the expected speed is told for. */
const SPOKEN_TOKENS = 2048;
/** Where nobody asks for a context: at least so much, and of the memory at most this share for conversations. */
const LEAST_CONTEXT = 16_384;
const KV_SHARE = 1 / 4;

export interface Room {
  totalBytes: number;
  /** Free now, or freed by unloading what is ours to unload. */
  freeBytes: number;
  /** Of that, what our own models hold now. */
  ownBytes: number;
}

/** What is known of this model from use here; and of the machine. */
export interface Experience {
  /** Held beside weights and conversation, at the most. */
  heldBytes?: number;
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
): { min: number; max: number } {
  const min = kvBytesOf(plan, Math.min(plan.model.context, LEAST_CONTEXT), kvType);
  const most = kvBytesOf(plan, plan.model.context, kvType) * slots;
  return { min, max: Math.max(min, Math.min(most, bytes * KV_SHARE)) };
}

export function fitOf(
  plan: MemoryPlan,
  { context, kvType }: { context: number; kvType: KvType },
  room: Room,
  experience: Experience = {},
): Fit {
  const kvBytes = kvBytesOf(plan, context, kvType);
  const scratchBytes = heldBytesOf(plan, experience);
  const usable = Math.max(0, room.freeBytes - RESERVE_BYTES);
  const spareBytes = usable - plan.weightBytes - kvBytes - scratchBytes;
  return {
    verdict: verdictOf(plan, spareBytes),
    context,
    weightBytes: plan.weightBytes,
    kvBytes,
    scratchBytes,
    otherBytes: Math.max(0, room.totalBytes - room.freeBytes),
    freeBytes: room.freeBytes,
    totalBytes: room.totalBytes,
    spareBytes,
    device: 'ram',
    ...speedOf(plan, kvType, spareBytes, experience),
    measured: experience.decodeTps !== undefined,
  };
}

function verdictOf(plan: MemoryPlan, spareBytes: number): Verdict {
  if (spareBytes >= TIGHT_BYTES) return 'fits';
  return spareBytes >= -coldBytesOf(plan) ? 'tight' : 'too_big';
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

/** The choices of the load dialog, each once, and the one that is taken where nobody chooses. */
export function choicesOf(
  plan: MemoryPlan,
  room: Room,
  experience: Experience = {},
): { choices: LoadChoice[]; recommended: LoadChoice['id'] } {
  const left = Math.max(0, room.freeBytes - RESERVE_BYTES - heldBytesOf(plan, experience) - plan.weightBytes);
  const usual = contextWithin(plan, automaticKv(plan, 'f16', left, 1).max, 'f16');
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
