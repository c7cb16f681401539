// Watches one runtime for hanging without dying: while it has work it must say something, if only the answer to a question of ours.
// It decides nothing but that (policy.ts says when) and ends nothing itself.
import { HANG_LOOKS, isHung, silenceAfter } from './policy';

/** What it watches: a RuntimeProcess. */
export interface Watched {
  readonly alive: boolean;
  /** Messages that have come from it. */
  readonly heard: number;
  call(method: 'stats', params: Record<string, never>): Promise<unknown>;
}

/** Looks at `watched` several times within `hangMs` until it is dead; calls `onHung` once, when it has been silent for that long. */
export function watchForHang(watched: Watched, isWorking: () => boolean, hangMs: number, onHung: () => void): void {
  let silence = 0;
  let heardBefore = watched.heard;
  let asking = false;
  const look = () => {
    if (!watched.alive) {
      clearInterval(timer);
      return;
    }
    const working = isWorking();
    silence = silenceAfter(silence, { working, heard: watched.heard !== heardBefore });
    heardBefore = watched.heard;
    if (isHung(silence)) {
      clearInterval(timer);
      onHung();
    } else if (working && !asking) {
      asking = true;
      const answered = () => (asking = false);
      watched.call('stats', {}).then(answered, answered);
    }
  };
  const timer = setInterval(look, hangMs / HANG_LOOKS);
  timer.unref();
}
