// What a measurement asks of the machine, from the sizes in the model's file alone: operations per prompt token and bytes per step of
// decode. Pure; what the machine can do is measured elsewhere.
import type { BenchResult } from '../contract/runtime';
import type { NativeInspection, NativeTensorInfo } from './addon';
import { EMBEDDING, EXPERTS, OUTPUT } from './model-parts';

type Sized = Pick<NativeInspection, 'kvBytesPerToken'> & {
  tensors: Pick<NativeTensorInfo, 'name' | 'shape' | 'bytes'>[];
  model: Pick<NativeInspection['model'], 'experts' | 'expertsUsed'>;
};

/**
 * Prefill: two operations for every weight that a token meets; the output matrix is left out, for only a prompt's last token needs it, and
 * so is attention, whose share depends on the depth. Decode: every weight that a step of `sequences` rows touches, once, and the keys
 * and values of what has been read (of layers that see everything; windows are small).
 */
export function workOf(
  { tensors, model, kvBytesPerToken }: Sized,
  { prefill, sequences }: { prefill: number; sequences: number },
): BenchResult['work'] {
  const share = (rows: number) => (model.experts > 0 ? 1 - (1 - model.expertsUsed / model.experts) ** rows : 1);
  const hasOutput = tensors.some(({ name }) => OUTPUT.test(name));
  let prefillOps = 0;
  let decodeBytes = sequences * prefill * kvBytesPerToken;
  for (const { name, shape, bytes } of tensors) {
    const expert = EXPERTS.test(name);
    // Hugging Face's MXFP4 comes as bytes of two weights each, and their scales.
    const packed = name.endsWith('_blocks') ? 2 : name.endsWith('_scales') ? 0 : 1;
    const weights = packed * shape.reduce((product, side) => product * side, 1);
    if (!EMBEDDING.test(name) && !OUTPUT.test(name)) prefillOps += 2 * weights * (expert ? share(1) : 1);
    // One row of an embedding table is nothing; the whole of it is read where it serves as the output matrix.
    if (!EMBEDDING.test(name) || !hasOutput) decodeBytes += bytes * (expert ? share(sequences) : 1);
  }
  return { prefillOps, decodeBytes };
}
