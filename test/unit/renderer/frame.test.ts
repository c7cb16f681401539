// Text must go on arriving in a window that draws no frames, and many tokens must not make many changes.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FrameGate } from '../../../renderer/state/frame';

describe('FrameGate', () => {
  let frames: (() => void)[] = [];

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    frames = [];
    vi.stubGlobal('requestAnimationFrame', (work: () => void) => frames.push(work));
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const draw = (): void => frames.splice(0).forEach((work) => work());

  it('flushes once per frame, however often it is asked', () => {
    const flush = vi.fn();
    const gate = new FrameGate(flush);
    for (let i = 0; i < 100; i++) gate.request();
    expect(flush).not.toHaveBeenCalled();
    draw();
    expect(flush).toHaveBeenCalledTimes(1);
  });

  it('goes by the clock where no frame is drawn', () => {
    const flush = vi.fn();
    new FrameGate(flush).request();
    vi.advanceTimersByTime(299);
    expect(flush).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(flush).toHaveBeenCalledTimes(1);
    draw();
    expect(flush).toHaveBeenCalledTimes(1);
  });

  it('rests after a slow frame', () => {
    const flush = vi.fn(() => void vi.advanceTimersByTime(100));
    const gate = new FrameGate(flush);
    gate.request();
    draw();
    draw();
    gate.request();
    draw();
    expect(flush).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    draw();
    expect(flush).toHaveBeenCalledTimes(2);
  });
});
