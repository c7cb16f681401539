// How a model's numbers are packed, read from a file's name, and what that means in one plain word. Pure functions.
import type { z } from 'zod';
import type { qualityWord } from '../../contract/models';

export type Quality = z.infer<typeof qualityWord>;

const PACKED =
  /(?:^|[-_.])((?:MXFP4|NVFP4)(?:_MOE)?|IQ[1-4]_(?:XXS|XS|NL|S|M)|T?Q[1-8]_(?:K(?:_(?:XXL|XL|L|M|S))?|[01])|BF16|F16|FP16|F32|FP32)(?=$|[-_.])/gi;

/** The last one in the name counts; undefined where it says nothing. */
export function quantizationOf(fileName: string): string | undefined {
  const found = [...fileName.replace(/\.gguf$/i, '').matchAll(PACKED)].at(-1)?.[1];
  return found?.toUpperCase().replace(/^FP(16|32)$/, 'F$1');
}

/** Bits that a weight has about, by the way of packing. */
export function bitsOf(quantization: string): number {
  if (/^F32/.test(quantization)) return 32;
  if (/16/.test(quantization)) return 16;
  if (/FP4/.test(quantization)) return 4;
  return Number(/Q(\d)/.exec(quantization)?.[1] ?? 4);
}

/** A model that was trained in four bits loses nothing by being kept in them. */
export function qualityOf(quantization: string, trainedInFourBits: boolean): Quality {
  if (/^(MX|NV)FP4/.test(quantization) && trainedInFourBits) return 'best';
  const bits = bitsOf(quantization);
  if (bits >= 8) return 'best';
  if (bits >= 6 || /^Q5_K/.test(quantization)) return 'very_good';
  return bits >= 4 ? 'good' : 'small';
}
