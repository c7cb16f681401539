// Which graphics devices a model keeps away from after they failed it, and for how long. Pure: faults and a time in, devices out.
import type { ErrorCode } from '../contract/errors';
import { isGone, type SeenGpu } from './gpus';
import type { Where } from './terms';

/** What went wrong, as far as it is known: without `device` it was whoever took part. */
export interface DeviceFailure {
  code: ErrorCode;
  device?: string | undefined;
}

/** A device was left for this. */
export interface DeviceFault {
  device: Pick<SeenGpu, 'id' | 'name' | 'driver'>;
  code: ErrorCode;
  at: number;
}

/** For whoever asks why a model is where it is: devices and drivers by name. */
export interface Fallback {
  device: string;
  driver: string;
  code: ErrorCode;
}

const MINUTE = 60_000;
/**
 * How long a device is out the first time; each further time twice as long. A lost one mostly fails again; memory that other programs have
 * taken comes back soon; one that is not there is left out of the list anyway, and only must not be tried again at once.
 */
const OUT_MS: Partial<Record<ErrorCode, number>> = { out_of_vram: MINUTE, device_unavailable: MINUTE / 2 };
const USUAL_OUT_MS = 5 * MINUTE;
const LONGEST_OUT_MS = 60 * MINUTE;

/** The latest fault of each device that is out now. */
export function outAt(faults: readonly DeviceFault[], now: number): DeviceFault[] {
  const latest = new Map(faults.map((fault) => [fault.device.id, fault]));
  return [...latest.values()].filter(({ device, code, at }) => {
    const times = faults.filter((each) => each.device.id === device.id && each.code === code).length;
    return now - at < Math.min(LONGEST_OUT_MS, (OUT_MS[code] ?? USUAL_OUT_MS) * 2 ** (times - 1));
  });
}

/** Faults that may still count, with the new ones. */
export const withFaults = (
  faults: readonly DeviceFault[],
  more: readonly DeviceFault[],
  now: number,
): DeviceFault[] => [...faults.filter(({ at }) => now - at < LONGEST_OUT_MS), ...more];

/** The graphics devices that take part. */
export function gpusOf({ gpu, division }: Where): SeenGpu[] {
  if (!division) return gpu ? [gpu] : [];
  const { placement, gpus } = division;
  return gpus.filter(({ id }) => placement.shares.some(({ device }) => device === id));
}

/**
 * Whose failure it was, of the devices that a model is on. The list decides what is not there any more: a device that has another id now, as
 * after an update of its driver, has not failed. Who cannot be told apart failed together.
 */
export function blamed(where: Where, { code, device }: DeviceFailure, there: readonly SeenGpu[]): SeenGpu[] {
  const used = gpusOf(where);
  const named = used.filter(({ id }) => id === device);
  if (code !== 'device_unavailable') return named.length > 0 ? named : used;
  const gone = used.filter((each) => isGone(each, there));
  if (gone.length > 0) return gone;
  return named.length > 0 ? named.filter(({ id }) => there.some((each) => each.id === id)) : used;
}

/** Undefined of none. */
export function fallbackOf(faults: readonly DeviceFault[]): Fallback | undefined {
  const last = faults.reduce<DeviceFault | undefined>((one, two) => (one && one.at > two.at ? one : two), undefined);
  const words = (of: (device: DeviceFault['device']) => string) =>
    [...new Set(faults.map(({ device }) => of(device)))].join(', ');
  return last && { device: words(({ name }) => name), driver: words(({ driver }) => driver), code: last.code };
}
