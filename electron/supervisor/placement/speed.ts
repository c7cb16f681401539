// How long one token takes, from bytes and bandwidths: a plan's expected speed. Constants are guesses of what devices take beside reading.
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

export const readSeconds = (bytes: number, bytesPerSecond: number): number =>
  bytes / (bytesPerSecond * BANDWIDTH_SHARE);

export function fixedSeconds(work: { gpuLayers: number; hops: number; expertLayers: number; sums: number }): number {
  const { gpuLayers, hops, expertLayers, sums } = work;
  return gpuLayers * LAYER_SECONDS + hops * HOP_SECONDS + expertLayers * EXPERTS_SECONDS + sums * SUM_SECONDS;
}
