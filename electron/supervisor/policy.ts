// The supervisor's decisions as pure functions: what a crash leads to, who is next, which event is a duplicate.
// Nothing here starts, sends or waits.
import type { ErrorCode } from '../contract/errors';
import type { GenerationEvent, LoadOptions } from '../contract/runtime';
import type { DeviceFailure } from './device-faults';

/** Crashes of one model within `CRASH_WINDOW_MS` after which it is given up. */
export const MODEL_CRASHES = 4;
export const CRASH_WINDOW_MS = 120_000;
/** Crashes that one request may live through. Fewer than `MODEL_CRASHES`: a poisonous request ends before its model does. */
export const REQUEST_CRASHES = 2;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export type CrashDecision = { action: 'restart'; afterMs: number } | { action: 'give_up' };

/** What to do when a runtime that served has died; `crashes` are the times (ms) of all its deaths, this one included. */
export function onCrash(crashes: readonly number[], now: number): CrashDecision {
  const recent = crashes.filter((time) => now - time < CRASH_WINDOW_MS).length;
  if (recent > MODEL_CRASHES) return { action: 'give_up' };
  return { action: 'restart', afterMs: Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, recent - 1)) };
}

/** Crashes of a model on one graphics device after which it is tried elsewhere. No more than a request may live through. */
export const DEVICE_CRASHES = 2;

/** Whether devices have shown that the model should not come back on them: it died there again and again, or lost one of several. */
export function leavesDevice(crashes: number, lostOneOfSeveral: boolean): boolean {
  return lostOneOfSeveral || crashes >= DEVICE_CRASHES;
}

/** The graphics devices that a load names. */
export const graphicsIn = ({ device, mesh }: Pick<LoadOptions, 'device' | 'mesh'>): string[] => [
  ...new Set([device, ...(mesh?.ranks ?? []).map((rank) => rank.device)].filter((id) => id.startsWith('vulkan'))),
];

/**
 * Whether it is known which of several devices was lost: the others are not tried with it again. Such a death counts neither against the
 * model nor against its requests, and there are no more of them than devices.
 */
export const lostOneOfSeveral = (failure: DeviceFailure | undefined, devices: readonly string[]): boolean =>
  failure?.code === 'device_lost' &&
  failure.device !== undefined &&
  devices.length > 1 &&
  devices.includes(failure.device);

/** Errors that are the device's or its driver's, and not the file's or the request's. */
export const isDeviceTrouble = (code: ErrorCode): boolean =>
  code === 'device_lost' || code === 'out_of_vram' || code === 'device_unavailable';

/**
 * Whether an answer that ended so ends its runtime, and goes on in the next one. A lost device answers nothing any more; one without memory may
 * have it again in a new process, or the model goes elsewhere. Where it may not, only the request that asked for too much ends.
 */
export const endsRuntime = (code: ErrorCode, mayLeaveDevice: boolean): boolean =>
  code === 'device_lost' || (code === 'out_of_vram' && mayLeaveDevice);

/** Whether a load that failed on a device is tried elsewhere: it must be the device's fault, and nobody have named it. */
export const comesElsewhere = (code: ErrorCode, named: string | undefined): boolean =>
  (named === undefined || named === 'auto') && (isDeviceTrouble(code) || code === 'runtime_crashed');

/** Whether a request that has now lived through `crashes` deaths is sent again. */
export function resumes(crashes: number): boolean {
  return crashes <= REQUEST_CRASHES;
}

/** A runtime that has work and says nothing for so long, though asked, is ended and started again. */
export const HANG_MS = 60_000;
/** So often is it looked at in that time. Looks are counted and not the clock: after a sleep of the machine nobody is late. */
export const HANG_LOOKS = 6;

/** How many looks in a row found nothing said, after one more. */
export function silenceAfter(silence: number, look: { working: boolean; heard: boolean }): number {
  return look.working && !look.heard ? silence + 1 : 0;
}

/** The first silent look says little: the work may have come just before it. */
export function isHung(silence: number): boolean {
  return silence > HANG_LOOKS;
}

export interface Waiting {
  priority: 'interactive' | 'background';
  arrival: number;
}

/** How long the background waits at most before it gets a place of its own beside people. */
export const PATIENCE_MS = 30_000;

/** What makes the background's claim to a place: how long something waited, and that none of it is served. */
export interface Claim<W> {
  waitedMs: (request: W) => number;
  backgroundServed: boolean;
}

/**
 * Who goes next: interactive before background, then by arrival. While nothing of the background is served, a request of it that
 * has waited long enough goes first: endless interactive work cannot keep it out for ever, and it takes one place only.
 */
export function nextWaiting<W extends Waiting>(waiting: Iterable<W>, claim?: Claim<W>): W | undefined {
  const rank = (request: W) => {
    if (request.priority === 'interactive') return 1;
    return claim && !claim.backgroundServed && claim.waitedMs(request) >= PATIENCE_MS ? 0 : 2;
  };
  let best: W | undefined;
  for (const request of waiting) {
    const ahead = best === undefined || rank(request) - rank(best) < 0;
    const earlier = best !== undefined && rank(request) === rank(best) && request.arrival < best.arrival;
    if (ahead || earlier) best = request;
  }
  return best;
}

/** What a stream has been given so far. */
export interface Progress {
  started: boolean;
  tokens: number;
  ended: boolean;
}

/**
 * Whether an event is news to a stream. After a resume the new runtime announces its start and its prefill again, and a runtime
 * that replays too much repeats indexes: all of that is dropped. Text without tokens (a flush at the end) belongs to the next index.
 */
export function isNews(progress: Progress, event: GenerationEvent): boolean {
  if (progress.ended) return false;
  switch (event.kind) {
    case 'start':
      return !progress.started;
    case 'prefill':
      return progress.tokens === 0;
    case 'parts':
      return event.index >= progress.tokens;
    case 'end':
      return true;
  }
}
