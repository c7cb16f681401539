// Two ways to share a model over the same devices: which of them is kept, by what was measured at a load, and whether the other is worth a
// trial. Pure; what is measured is trials.ts's.
import { turnSeconds } from './speed';
import type { Placement } from './types';

/** As measured at a load. */
export interface Rates {
  decodeTps: number;
  prefillTps: number;
}

/** What sums or steps from device to device cost is reckoned so badly that these are measured. */
const COMPARED: readonly string[] = ['layer_split', 'tensor_parallel'];

/** An estimate that is so much slower is not so wrong that a trial would change anything. */
const NEAR = 0.5;

const devices = ({ shares }: Placement): string =>
  shares
    .map(({ device }) => device)
    .sort()
    .join(' ');

/** The other ways for the devices of this one. */
export const rivalsOf = (chosen: Placement, all: readonly Placement[]): Placement[] =>
  COMPARED.includes(chosen.kind)
    ? all.filter(
        ({ kind, ...each }) =>
          kind !== chosen.kind && COMPARED.includes(kind) && devices({ kind, ...each }) === devices(chosen),
      )
    : [];

/** The fastest of what was measured, where that is not the chosen one. */
export function fasterOf(
  chosen: Placement,
  rivals: readonly Placement[],
  ratesOf: (placement: Placement) => Rates | undefined,
): Placement | undefined {
  const seconds = (placement: Placement) => {
    const rates = ratesOf(placement);
    return rates && turnSeconds(rates);
  };
  const own = seconds(chosen);
  if (own === undefined) return undefined;
  const [best] = rivals
    .map((rival) => ({ rival, time: seconds(rival) ?? Infinity }))
    .sort((one, two) => one.time - two.time);
  return best && best.time < own ? best.rival : undefined;
}

/** One that was not measured, and by its estimate might be faster. */
export const worthTrying = (
  chosen: Placement,
  rivals: readonly Placement[],
  ratesOf: (placement: Placement) => Rates | undefined,
): Placement | undefined => rivals.find((rival) => !ratesOf(rival) && NEAR * turnSeconds(rival) <= turnSeconds(chosen));
