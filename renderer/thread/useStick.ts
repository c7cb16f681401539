// Keeps a scrolled place at its bottom while it grows, as long as the reader wants that. The reader lets go by any upward scroll,
// and takes hold again by coming within 80 px of the bottom. What the list itself does to the scroll position counts for nothing.
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';

const NEAR = 80;
/** An upward scroll so soon after a change of size, with no hand on anything, is the list's own doing. */
const SETTLE_MS = 250;
const HAND_MS = 600;

export interface Stick {
  /** Scroll to the bottom and stay there. */
  toBottom: () => void;
  /** Whether the place is kept at its bottom. */
  held: () => boolean;
  /** Set by the list in use. */
  attach: (use: { toBottom: () => void; held: () => boolean } | undefined) => void;
}

export function useStickHandle(): Stick {
  const target = useRef<{ toBottom: () => void; held: () => boolean } | undefined>(undefined);
  return useMemo(
    () => ({
      toBottom: () => target.current?.toBottom(),
      held: () => target.current?.held() ?? true,
      attach: (use) => (target.current = use),
    }),
    [],
  );
}

/** Returns whether the reader is away from the bottom. */
export function useStick(
  stick: Stick,
  scroller: RefObject<HTMLElement | null>,
  inner: RefObject<HTMLElement | null>,
): boolean {
  const [away, setAway] = useState(false);
  useEffect(() => {
    const place = scroller.current;
    const content = inner.current;
    if (!place || !content) return undefined;
    return watch(place, content, stick, setAway);
  }, [stick, scroller, inner]);
  return away;
}

function watch(place: HTMLElement, content: HTMLElement, stick: Stick, setAway: (away: boolean) => void): () => void {
  let held = true;
  let top = place.scrollTop;
  let resizedAt = performance.now();
  let handAt = -Infinity;
  let dragging = false;
  let touchY = 0;

  const distance = (): number => place.scrollHeight - place.scrollTop - place.clientHeight;
  const hold = (value: boolean): void => {
    held = value;
    setAway(!value && distance() > 4);
  };
  const pin = (): void => {
    resizedAt = performance.now();
    if (held) place.scrollTop = place.scrollHeight;
    top = place.scrollTop;
    setAway(!held && distance() > 4);
  };
  const byHand = (): boolean => dragging || performance.now() - handAt < HAND_MS;
  const onScroll = (): void => {
    const now = place.scrollTop;
    const settled = performance.now() - resizedAt > SETTLE_MS;
    if (now < top - 1 && distance() > 1 && (byHand() || settled)) hold(false);
    else if (distance() <= NEAR && now >= top) hold(true);
    else if (!held) setAway(distance() > 4);
    top = now;
  };
  const listeners: [EventTarget, string, (event: never) => void][] = [
    [place, 'scroll', onScroll],
    [
      place,
      'wheel',
      (event: WheelEvent) => {
        handAt = performance.now();
        if (event.deltaY < 0 && place.scrollHeight > place.clientHeight) hold(false);
      },
    ],
    [place, 'touchstart', (event: TouchEvent) => (touchY = event.touches[0]?.clientY ?? 0)],
    [
      place,
      'touchmove',
      (event: TouchEvent) => {
        handAt = performance.now();
        if ((event.touches[0]?.clientY ?? 0) > touchY + 2) hold(false);
      },
    ],
    [
      place,
      'keydown',
      (event: KeyboardEvent) => {
        handAt = performance.now();
        if (['ArrowUp', 'PageUp', 'Home'].includes(event.key) && event.target === place) hold(false);
      },
    ],
    [place, 'pointerdown', () => (dragging = true)],
    [window, 'pointerup', () => ((dragging = false), (handAt = performance.now()))],
  ];
  for (const [target, name, listener] of listeners) {
    target.addEventListener(name, listener as EventListener, { passive: true });
  }
  const observer = new ResizeObserver(pin);
  observer.observe(content);
  observer.observe(place);
  stick.attach({ toBottom: () => (hold(true), pin()), held: () => held });
  pin();
  return () => {
    stick.attach(undefined);
    observer.disconnect();
    for (const [target, name, listener] of listeners) target.removeEventListener(name, listener as EventListener);
  };
}
