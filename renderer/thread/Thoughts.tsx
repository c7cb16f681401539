// The model's thoughts: one quiet line, opened on demand to a place that scrolls by itself and never pulls the page.
import type { Message } from '@contract/own';
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { memo, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { currentLanguage, type Translate, useT } from '../i18n';
import { Ember } from '../parts/Ember';
import { whole } from '../parts/format';
import { useLive } from '../state/live';
import { setPref, usePrefs } from '../state/prefs';
import type { LiveAnswer } from '../state/turnEvents';
import { thoughtMsOf } from './thoughtTime';
import { thoughtToggles, toggleThought } from './thoughtToggles';

interface Props {
  message: Message;
  reasoning: string;
  live: LiveAnswer | undefined;
}

export const Thoughts = memo(function Thoughts({ message, reasoning, live }: Props) {
  const t = useT();
  const id = useId();
  const remembered = usePrefs((prefs) => prefs.thoughtsOpen);
  const own = thoughtToggles((toggles) => toggles[message.id]);
  const seenMs = useLive((store) => store.thoughtMs[message.id]);
  const thinking = live !== undefined && !live.end && live.phase === 'thinking';
  // A remembered wish opens thoughts while they are fresh; old answers stay folded until asked.
  const open = own ?? (remembered && live !== undefined);
  const ms = live?.thoughtMs ?? seenMs ?? thoughtMsOf(message);
  const press = (): void => {
    toggleThought(message.id, !open);
    setPref({ thoughtsOpen: !open });
  };
  return (
    <div className="thoughts">
      <button type="button" className="thoughts-line" aria-expanded={open} aria-controls={id} onClick={press}>
        {thinking && <Ember />}
        <span className="num">{thinking ? <Clock since={live.thinkingSince} /> : thoughtWords(t, ms)}</span>
        <ChevronRight className={clsx('thoughts-arrow', open && 'is-open')} size={15} aria-hidden />
      </button>
      <div id={id} hidden={!open}>
        {open && <ThoughtText text={reasoning} growing={thinking} />}
      </div>
    </div>
  );
});

function thoughtWords(t: Translate, ms: number | undefined): string {
  if (ms === undefined || ms < 1000) return t('thinking.doneShort');
  return t('thinking.done', { seconds: whole(ms / 1000, currentLanguage()) });
}

function Clock({ since }: { since: number | undefined }) {
  const t = useT();
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = since === undefined ? 0 : Math.floor((now - since) / 1000);
  return seconds < 1 ? t('thinking.now') : t('thinking.nowFor', { seconds: whole(seconds, currentLanguage()) });
}

function ThoughtText({ text, growing }: { text: string; growing: boolean }) {
  const t = useT();
  const place = useRef<HTMLDivElement>(null);
  const held = useRef(true);
  useLayoutEffect(() => {
    const element = place.current;
    if (growing && held.current && element) element.scrollTop = element.scrollHeight;
  }, [text, growing]);
  return (
    <div
      ref={place}
      className="thoughts-text"
      role="region"
      aria-label={t('thinking.text')}
      tabIndex={0}
      dir="auto"
      onScroll={({ currentTarget: element }) => {
        held.current = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
      }}
    >
      {text.trim()}
    </div>
  );
}
