// How a model is packed, in plain words: the bits that are kept of each number, and what that does to its answers. Pure.
import type { Translate } from '../i18n';

/** Bits per weight that a quantisation's name tells, or undefined where it tells none. */
export function bitsOf(quantization: string): number | undefined {
  const name = quantization.toUpperCase();
  if (/^(MXFP4|NVFP4|FP4)/.test(name)) return 4;
  if (/^(BF16|F16|FP16)/.test(name)) return 16;
  if (/^(F32|FP32)/.test(name)) return 32;
  if (/^(FP8|F8)/.test(name)) return 8;
  const digits = /^(?:I?Q|TQ|INT)(\d)/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function packingWords(t: Translate, quantization: string): string | undefined {
  const bits = bitsOf(quantization);
  if (bits === undefined) return quantization || undefined;
  const name = quantization;
  // MXFP4 is what gpt-oss was made in: nothing was lost in packing it.
  if (/^MXFP4/i.test(name)) return t('packing.native', { bits, name });
  if (bits >= 16) return t('packing.full', { bits, name });
  if (bits >= 8) return t('packing.near', { bits, name });
  if (bits >= 5) return t('packing.veryGood', { bits, name });
  return bits === 4 ? t('packing.good', { bits, name }) : t('packing.small', { bits, name });
}
