// Keeps a scrolled place at its bottom while it grows, as long as the reader wants that. The reader lets go by any upward scroll,
// and takes hold again by coming within 80 px of the bottom.
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';

const NEAR = 80;

export interface Stick {
  /** Scroll to the bottom and stay there. */
  toBottom: () => void;
  /** Set by the list in use. */
  attach: (toBottom: (() => void) | undefined) => void;
}

export function useStickHandle(): Stick {
  const target = useRef<(() => void) | undefined>(undefined);
  return useMemo(
    () => ({ toBottom: () => target.current?.(), attach: (toBottom) => (target.current = toBottom) }),
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
    let held = true;
    let top = place.scrollTop;
    let height = place.scrollHeight;
    let touchY = 0;

    const distance = (): number => place.scrollHeight - place.scrollTop - place.clientHeight;
    const hold = (value: boolean): void => {
      held = value;
      setAway(!value && distance() > 4);
    };
    const pin = (): void => {
      if (held) place.scrollTop = place.scrollHeight;
      top = place.scrollTop;
      height = place.scrollHeight;
      if (!held) setAway(distance() > 4);
    };
    const onScroll = (): void => {
      const now = place.scrollTop;
      // A shrinking content also moves up; that is not the reader's doing.
      if (now < top - 1 && place.scrollHeight >= height && distance() > 1) hold(false);
      else if (distance() <= NEAR && now >= top) hold(true);
      else if (!held) setAway(true);
      top = now;
      height = place.scrollHeight;
    };
    const onWheel = (event: WheelEvent): void => {
      if (event.deltaY < 0 && place.scrollHeight > place.clientHeight) hold(false);
    };
    const onTouch = (event: TouchEvent): void => {
      touchY = event.touches[0]?.clientY ?? 0;
    };
    const onTouchMove = (event: TouchEvent): void => {
      if ((event.touches[0]?.clientY ?? 0) > touchY + 2) hold(false);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (['ArrowUp', 'PageUp', 'Home'].includes(event.key)) hold(false);
    };

    const observer = new ResizeObserver(pin);
    observer.observe(content);
    observer.observe(place);
    place.addEventListener('scroll', onScroll, { passive: true });
    place.addEventListener('wheel', onWheel, { passive: true });
    place.addEventListener('touchstart', onTouch, { passive: true });
    place.addEventListener('touchmove', onTouchMove, { passive: true });
    place.addEventListener('keydown', onKey);
    stick.attach(() => {
      hold(true);
      pin();
    });
    pin();
    return () => {
      stick.attach(undefined);
      observer.disconnect();
      place.removeEventListener('scroll', onScroll);
      place.removeEventListener('wheel', onWheel);
      place.removeEventListener('touchstart', onTouch);
      place.removeEventListener('touchmove', onTouchMove);
      place.removeEventListener('keydown', onKey);
    };
  }, [stick, scroller, inner]);
  return away;
}
