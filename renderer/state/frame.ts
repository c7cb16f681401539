// When to show what has arrived: once per animation frame, less often where frames are slow or the page is not drawn at all.

/** A covered window may draw no frames without being hidden; text goes on all the same. */
const NO_FRAME_MS = 300;
const SLOW_MS = 40;
const MOST_REST_MS = 400;

/** Runs `flush` for a burst of `request()` calls. After a slow frame it waits as long as that frame took, so that keys come through. */
export class FrameGate {
  #pending = false;
  #rest = 0;
  readonly #flush: () => void;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  request(): void {
    if (this.#pending) return;
    this.#pending = true;
    if (this.#rest > 0) setTimeout(() => this.#nextFrame(this.#run), this.#rest);
    else this.#nextFrame(this.#run);
  }

  #run = (): void => {
    this.#pending = false;
    const began = performance.now();
    this.#flush();
    this.#nextFrame(() => {
      const took = performance.now() - began;
      this.#rest = took > SLOW_MS ? Math.min(took, MOST_REST_MS) : 0;
    });
  };

  #nextFrame(work: () => void): void {
    let done = false;
    const once = (): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      work();
    };
    const timer = setTimeout(once, NO_FRAME_MS);
    requestAnimationFrame(once);
  }
}
