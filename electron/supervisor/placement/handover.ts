// Prompts read on one device, answers written on another: both have the whole model, and keys and values are handed over. It knows sizes,
// rooms and rates, and no device.
import { inARow, spareOf } from './layers';
import { kvPerToken, type Sizes } from './sizes';
import { handoverSeconds } from './speed';
import type { PlaceDevice, Placement } from './types';

/** The first of `devices` reads; undefined where one of them does not hold the whole. A guess is no reason to hold a model twice. */
export function handedOver(
  [reader, writer]: readonly [PlaceDevice, PlaceDevice],
  sizes: Sizes,
  cpu: PlaceDevice,
): Placement | undefined {
  if (!reader.measured || !writer.measured) return undefined;
  const alone = [inARow([reader], sizes, cpu), inARow([writer], sizes, cpu)] as const;
  const [reads, writes] = alone;
  if (!reads || !writes || alone.some((each) => each?.shares.length !== 1)) return undefined;
  const shares = [...reads.shares, ...writes.shares];
  const spareBytes = spareOf(shares, [reader, writer, cpu]);
  if (spareBytes < 0) return undefined;
  return {
    kind: 'handover',
    shares,
    decodeTps: writes.decodeTps,
    prefillTps: 1 / (1 / reads.prefillTps + handoverSeconds(kvPerToken(sizes))),
    spareBytes,
  };
}
