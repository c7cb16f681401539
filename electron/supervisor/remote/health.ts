// When an engine elsewhere is asked next, and what its answer says of it. Pure.
import type { HearthError } from '../../contract/errors';
import type { RemoteEngine } from '../../contract/models';

const PACE_MS = 60_000;
const LONGEST_MS = 15 * 60_000;
/** A list of models that takes longer: answers will be slow to begin, too. */
const SLOW_MS = 2_000;

/** Twice as long after each failure in a row. */
export function nextCheckMs(failures: number): number {
  return Math.min(LONGEST_MS, PACE_MS * 2 ** Math.min(failures, 10));
}

type Health = RemoteEngine['health'];

export function healthOf(answer: { latencyMs: number; error?: HearthError }, checkedAt: number): Health {
  const { latencyMs, error } = answer;
  if (!error) return { state: latencyMs > SLOW_MS ? 'slow' : 'ok', latencyMs, checkedAt };
  const state = error.code === 'remote_key_refused' || error.code === 'offline' ? 'refused' : 'unreachable';
  return { state, checkedAt, error: error.toShape() };
}
