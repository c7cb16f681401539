// When to show what has arrived: once per animation frame, less often where frames are slow or the page is hidden.

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
    if (document.hidden) setTimeout(this.#run, 250);
    else if (this.#rest > 0) setTimeout(() => requestAnimationFrame(this.#run), this.#rest);
    else requestAnimationFrame(this.#run);
  }

  #run = (): void => {
    this.#pending = false;
    const began = performance.now();
    this.#flush();
    if (document.hidden) return;
    requestAnimationFrame(() => {
      const took = performance.now() - began;
      this.#rest = took > 40 ? Math.min(took, 400) : 0;
    });
  };
}
