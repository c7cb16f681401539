// What a placement is made of. Plain data; what comes out is the contract's.
import type { Placement, PlacementKind, PlacementShare } from '../../contract/models';

export type { Placement, PlacementKind };
export type Share = PlacementShare;

export interface PlaceDevice {
  id: string;
  name: string;
  kind: 'gpu' | 'cpu';
  /** What models may take, the reserve left out. */
  roomBytes: number;
  /** Of plain reading. */
  bytesPerSecond: number;
  /** Of multiplying small integers; of a graphics device, in floats. */
  opsPerSecond: number;
  /** Both were measured; else they are guesses by the kind of device. */
  measured: boolean;
  /** Its memory is the machine's: what it takes, the processor cannot have. */
  unified: boolean;
}

export const bytesOf = ({ weightBytes, kvBytes, scratchBytes }: Share): number => weightBytes + kvBytes + scratchBytes;
