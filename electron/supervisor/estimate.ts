// What a model that is not here would take of the memory: a plan made of the size of its file and of what is known of its family. Pure.
// Where the file is here, the probe's plan is used instead: nothing of this is ever promised to a load.
import type { Fit } from '../contract/models';
import type { MemoryPlan, ModelParts } from '../contract/runtime';
import { fitOf, type Experience, type Room } from './fit';

/** What a family's card says of its models. */
export interface ModelShape {
  layers: number;
  hidden: number;
  vocabulary: number;
  context: number;
  /** Of keys and values together: numbers kept for a token in one layer. */
  kvWidth: number;
  /** Reach of the layers, in turn; 0: everything. */
  windows: number[];
  /** The embedding is the output matrix, too. */
  tied?: boolean | undefined;
  experts?: { count: number; used: number; parameters: number } | undefined;
}

export interface FileFacts {
  bytes: number;
  quantization: string;
  parameters: number;
  architecture?: string | undefined;
  shape?: ModelShape | undefined;
}

const BLOCK_TOKENS = 16;
const PREFILL_ROWS = 512;
/** Bytes of 32 numbers: 16 bits each, or 8 and a scale. */
const F16_BYTES = 2;
const Q8_BYTES = 34 / 32;
/** Working space for each number of the residual stream, with 512 rows: the widths of a layer's other buffers follow it. */
const SCRATCH_BYTES = 48e3;
const DEVICE_SCRATCH_BYTES = 40e3;
const LOGITS_BYTES = 34e6;
const MXFP4_BITS = 4.25;

/** Of families that no card here describes: a conversation grows about with the root of the model's size, and its width with the third. */
const USUAL = { parameters: 8e9, hidden: 4096, layers: 32, kvWidth: 2048, vocabulary: 128_000, context: 16_384 };

function usualShape(parameters: number): ModelShape {
  const size = Math.max(parameters, 1e6) / USUAL.parameters;
  const { layers, kvWidth, hidden, ...rest } = USUAL;
  return {
    ...rest,
    layers,
    kvWidth: Math.round(kvWidth * Math.sqrt(size)),
    hidden: Math.round(hidden * Math.cbrt(size)),
    windows: [0],
  };
}

/** Of the file, what writing one token reads; undefined where nobody here knows how much of it the experts are. */
function decodeBytesOf(facts: FileFacts): number | undefined {
  const { bytes, architecture, shape } = facts;
  if (!shape) return /moe/i.test(architecture ?? '') ? undefined : bytes;
  const { expertBytes, embedding } = weightsOf(facts, shape);
  const { experts } = shape;
  return (experts ? (expertBytes * experts.used) / experts.count : 0) + bytes - expertBytes - embedding;
}

/** `embedding`: what is read one row at a time; 0 where the table is the output matrix, too. */
function weightsOf({ bytes, quantization, parameters }: FileFacts, { experts, vocabulary, hidden, tied }: ModelShape) {
  const bits = /^MXFP4/.test(quantization) ? MXFP4_BITS : (bytes * 8) / parameters;
  const expertBytes = experts ? Math.min(bytes, (experts.parameters * bits) / 8) : 0;
  const others = Math.max(1, parameters - (experts?.parameters ?? 0));
  const rest = bytes - expertBytes;
  const table = Math.min(rest / 2, (rest * vocabulary * hidden) / others);
  return { expertBytes, table, embedding: tied ? 0 : Math.min(rest, (rest * vocabulary * hidden) / others) };
}

function partsOf(facts: FileFacts, shape: ModelShape): ModelParts {
  const { layers, windows } = shape;
  const { expertBytes, table, embedding } = weightsOf(facts, shape);
  const shared = Math.max(0, facts.bytes - expertBytes - table - embedding) / layers;
  const group = (layer: number) => layer % windows.length;
  return {
    embedding,
    output: table,
    layers: Array.from({ length: layers }, (_, i) => ({ shared, experts: expertBytes / layers, group: group(i) })),
  };
}

/** `decodes`: false where nothing can be said of the speed. */
export function estimatedPlan(facts: FileFacts): { plan: MemoryPlan; decodes: boolean } {
  const { bytes, parameters, quantization, architecture = '' } = facts;
  const shape = facts.shape ?? usualShape(parameters);
  const { layers, kvWidth, windows, hidden, experts, vocabulary, context } = shape;
  const block = BLOCK_TOKENS * Math.ceil(layers / windows.length) * kvWidth;
  const decodeBytes = decodeBytesOf(facts);
  const sparse = experts ?? (decodeBytes === undefined ? { count: 2, used: 1 } : undefined);
  const plan: MemoryPlan = {
    model: {
      modelId: '',
      path: '',
      name: '',
      license: '',
      architecture,
      parameters,
      quantization,
      fileBytes: bytes,
      layers,
      hidden,
      vocabulary,
      context,
      experts: sparse?.count ?? 0,
      expertsUsed: sparse?.used ?? 0,
    },
    weightBytes: bytes,
    scratchBytes: SCRATCH_BYTES * hidden,
    deviceScratchBytes: DEVICE_SCRATCH_BYTES * hidden + LOGITS_BYTES,
    decodeBytes: decodeBytes ?? bytes,
    parts: partsOf(facts, shape),
    kv: {
      blockTokens: BLOCK_TOKENS,
      prefillRows: PREFILL_ROWS,
      windows,
      blockBytes: { f16: block * F16_BYTES, q8: block * Q8_BYTES },
    },
  };
  return { plan, decodes: decodeBytes !== undefined };
}

/** The plan of a model that is here, for the same model packed in another way: only its weights differ. */
export function repacked(plan: MemoryPlan, bytes: number): MemoryPlan {
  const share = bytes / Math.max(1, plan.weightBytes);
  const { embedding, output, layers } = plan.parts;
  const parts: ModelParts = {
    embedding: embedding * share,
    output: output * share,
    layers: layers.map((layer) => ({ ...layer, shared: layer.shared * share, experts: layer.experts * share })),
  };
  return { ...plan, weightBytes: bytes, decodeBytes: plan.decodeBytes * share, parts };
}

/** A model whose speed was measured here, and what was expected of it. */
export interface Pace {
  measuredTps: number;
  expectedTps: number;
}

const FASTEST = 2;
const SLOWEST = 0.2;

/** By how much this machine is faster than expected, in the middle of the models that were used here; 1 where none was. */
export function paceOf(all: readonly Pace[]): number {
  const ratios = all
    .filter(({ measuredTps, expectedTps }) => measuredTps > 0 && expectedTps > 0)
    .map(({ measuredTps, expectedTps }) => measuredTps / expectedTps)
    .sort((one, two) => one - two);
  const middle = ratios[Math.floor(ratios.length / 2)];
  return middle === undefined ? 1 : Math.min(FASTEST, Math.max(SLOWEST, middle));
}

/** The conversations that it is asked for: a usual one, else a short one in half the space. */
const CONVERSATIONS = [
  { context: 16_384, kvType: 'f16' },
  { context: 4096, kvType: 'q8' },
] as const;

/** What is said of a file before it is fetched: with a usual conversation where that fits, else with a short one. */
export function fitOfFile(plan: MemoryPlan, room: Room, experience: Experience): Fit {
  const [usual, short] = CONVERSATIONS.map(({ context, kvType }) =>
    fitOf(plan, { context: Math.min(context, plan.model.context), kvType }, room, experience),
  ) as [Fit, Fit];
  return { ...(usual.verdict === 'fits' ? usual : short), estimated: true };
}
