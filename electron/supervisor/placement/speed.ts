// How long one token takes to write, from bytes and bandwidths, and to read, from operations: a plan's expected speed. Constants are guesses of what devices take beside reading.
/** What decoding gets of the bandwidth that plain reading gets. */
export const BANDWIDTH_SHARE = 0.7;
/** For each layer on a graphics device: its dispatches. */
const LAYER_SECONDS = 40e-6;
/** From one device to the next: a submission is waited for, a copy made, the other's thread woken. */
const HOP_SECONDS = 120e-6;
/** There and back, where a layer's experts are computed by the processor. */
const EXPERTS_SECONDS = 240e-6;
/** One sum over devices, through the machine's memory; a layer has two. */
const SUM_SECONDS = 120e-6;

/** Of what a device multiplies at most, what the reading of a prompt gets. */
const OPS_SHARE = 0.35;
/** From one device's memory through the machine's into another's, block by block. */
const HANDOVER_BYTES_PER_SECOND = 4e9;
/** What a speed is compared for where reading and writing are on different devices: a question with something to read, and its answer. */
const TURN = { reads: 1024, writes: 256 };

/** Seconds of a usual turn. */
export const turnSeconds = ({ prefillTps, decodeTps }: { prefillTps: number; decodeTps: number }): number =>
  TURN.reads / prefillTps + TURN.writes / decodeTps;

export const opsSeconds = (ops: number, opsPerSecond: number): number => ops / (opsPerSecond * OPS_SHARE);

export const handoverSeconds = (kvBytes: number): number => kvBytes / HANDOVER_BYTES_PER_SECOND;

export const readSeconds = (bytes: number, bytesPerSecond: number): number =>
  bytes / (bytesPerSecond * BANDWIDTH_SHARE);

export function fixedSeconds(work: { gpuLayers: number; hops: number; expertLayers: number; sums: number }): number {
  const { gpuLayers, hops, expertLayers, sums } = work;
  return gpuLayers * LAYER_SECONDS + hops * HOP_SECONDS + expertLayers * EXPERTS_SECONDS + sums * SUM_SECONDS;
}
