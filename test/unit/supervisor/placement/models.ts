// Sizes of real models, from their configurations, as plans: gpt-oss in its own packing with 8-bit attention, and a dense 7B of four bits.
import type { MemoryPlan } from '../../../../electron/contract/runtime';

const MXFP4 = 4.25 / 8;
const Q8 = 34 / 32;

interface Shape {
  name: string;
  layers: number;
  hidden: number;
  vocabulary: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  windows: number[];
  experts: number;
  expertsUsed: number;
  /** Of a layer: bytes of all experts, and of everything else. */
  expertBytes: number;
  sharedBytes: number;
  tableBytes: number;
}

function planOf(shape: Shape): MemoryPlan {
  const { layers, experts, expertsUsed, expertBytes, sharedBytes, tableBytes, windows, kvHeads, headDim, hidden } =
    shape;
  const weightBytes = layers * (expertBytes + sharedBytes) + 2 * tableBytes;
  const f16 = 16 * 2 * 2 * kvHeads * headDim * Math.ceil(layers / windows.length);
  return {
    model: {
      modelId: shape.name,
      path: '',
      architecture: '',
      name: shape.name,
      license: '',
      parameters: 0,
      fileBytes: weightBytes,
      quantization: '',
      layers,
      hidden,
      vocabulary: shape.vocabulary,
      context: 131_072,
      experts,
      expertsUsed,
    },
    weightBytes,
    scratchBytes: 250e6,
    deviceScratchBytes: 200e6,
    decodeBytes: weightBytes - tableBytes - layers * expertBytes * (1 - expertsUsed / Math.max(1, experts)),
    parts: {
      embedding: tableBytes,
      output: tableBytes,
      layers: Array.from({ length: layers }, (_, i) => ({
        shared: sharedBytes,
        experts: expertBytes,
        group: i % windows.length,
      })),
    },
    mostShares: kvHeads,
    kv: { blockTokens: 16, prefillRows: 512, windows, blockBytes: { f16, q8: (f16 * 34) / 64 } },
  };
}

function gptOss(name: string, layers: number, experts: number): MemoryPlan {
  const hidden = 2880;
  return planOf({
    name,
    layers,
    hidden,
    vocabulary: 201_088,
    heads: 64,
    kvHeads: 8,
    headDim: 64,
    windows: [128, 0],
    experts,
    expertsUsed: 4,
    expertBytes: experts * (3 * hidden * hidden * MXFP4 + 3 * hidden * 4),
    sharedBytes: (2 * 64 + 2 * 8) * 64 * hidden * Q8 + experts * hidden * 4,
    tableBytes: 201_088 * hidden * Q8,
  });
}

/** 32 layers of 4096 with 8 KV heads of 128: what most dense models of this size are. */
const dense = planOf({
  name: '7B dense',
  layers: 32,
  hidden: 4096,
  vocabulary: 32_000,
  heads: 32,
  kvHeads: 8,
  headDim: 128,
  windows: [0],
  experts: 0,
  expertsUsed: 0,
  expertBytes: 0,
  sharedBytes: 4.0e9 / 32,
  tableBytes: 90e6,
});

export const MODELS = [gptOss('gpt-oss-20b', 24, 32), gptOss('gpt-oss-120b', 36, 128), dense];
