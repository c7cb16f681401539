// The conversation as a virtual list: only what is near the screen exists. Stays at the bottom while the reader is there,
// lets go at any upward scroll, and never moves otherwise.
import { branchOf } from '@contract/branch';
import type { ChatWithMessages, Message } from '@contract/own';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useEffect, useMemo, useRef } from 'react';
import { useT } from '../i18n';
import { useLive } from '../state/live';
import { MessageRow } from './MessageRow';
import { useStick, type Stick } from './useStick';
import './thread.css';

interface Props {
  chat: ChatWithMessages;
  stick: Stick;
}

export function Thread({ chat, stick }: Props) {
  const t = useT();
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const branch = useMemo(() => branchOf(chat.messages, chat.headId), [chat.messages, chat.headId]);
  // eslint-disable-next-line react-hooks/incompatible-library -- the list is not memoized here, nothing goes stale
  const list = useVirtualizer({
    count: branch.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => branch[index]?.id ?? index,
    estimateSize: (index) => estimate(branch[index]),
    overscan: 4,
    paddingStart: 24,
    paddingEnd: 16,
  });
  // Rows wholly above the eye may push the page when they are measured; the one being read grows downwards only.
  // While the bottom is kept, the list must not correct the scroll position as well.
  useEffect(() => {
    list.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, instance) =>
      !stick.held() && item.end <= (instance.scrollOffset ?? 0);
  }, [list, stick]);
  const away = useStick(stick, scroller, inner);
  const rows = list.getVirtualItems();
  const writing = useLive((live) => branch.some((message) => live.answers[message.id]));
  return (
    <div className="thread-place">
      <section className="thread" ref={scroller} aria-label={t('thread.label')} tabIndex={0}>
        <div className="thread-inner" ref={inner} style={{ height: list.getTotalSize() }}>
          <div className="thread-rows" style={{ transform: `translateY(${rows[0]?.start ?? 0}px)` }}>
            {rows.map((row) => {
              const message = branch[row.index];
              return (
                message && (
                  <div key={row.key} data-index={row.index} ref={list.measureElement} className="thread-row">
                    <MessageRow chat={chat} message={message} last={row.index === branch.length - 1} />
                  </div>
                )
              );
            })}
          </div>
        </div>
      </section>
      {away && (
        <button type="button" className="button thread-latest" onClick={stick.toBottom} aria-label={t('thread.bottom')}>
          {writing && <span>{t('thread.newText')}</span>}
          <ArrowDown size={15} aria-hidden />
        </button>
      )}
    </div>
  );
}

/** Near enough that the scroll bar does not jump when a row is measured. */
function estimate(message: Message | undefined): number {
  if (!message) return 80;
  const text = message.text;
  let lines = 0;
  for (let from = 0, to = 0; from <= text.length && lines < 4000; from = to + 1) {
    to = text.indexOf('\n', from);
    if (to < 0) to = text.length;
    lines += Math.max(0.5, Math.ceil((to - from) / 80));
  }
  return (message.role === 'user' ? 60 : 84) + lines * 24;
}
