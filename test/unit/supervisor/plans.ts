// Plans of made-up models, for tests of what fits.
import type { MemoryPlan } from '../../../electron/contract/runtime';

const GB = 1e9;

/** A model of `gigabytes` whose conversation of 4096 tokens takes 256 blocks of 1 MB, and half of it in q8. */
export function planFor(path: string, gigabytes: number, more: Partial<MemoryPlan['model']> = {}): MemoryPlan {
  return {
    model: {
      modelId: path,
      path,
      architecture: 'fake',
      name: path,
      license: '',
      parameters: 1,
      fileBytes: gigabytes * GB,
      quantization: 'F32',
      layers: 1,
      hidden: 1,
      vocabulary: 1000,
      context: 4096,
      experts: 0,
      expertsUsed: 0,
      ...more,
    },
    weightBytes: gigabytes * GB,
    scratchBytes: 1e6,
    deviceScratchBytes: 1e6,
    parts: { embedding: 0, output: 0, layers: [{ shared: gigabytes * GB, experts: 0, group: 0 }] },
    decodeBytes: gigabytes * GB,
    kv: { blockTokens: 16, prefillRows: 512, windows: [0], blockBytes: { f16: 1e6, q8: 5e5 } },
  };
}
