// An answer: its thoughts folded to a line, its text, how it ended, and what can be done with it. Reads its live text by its own id.
import type { ChatWithMessages, Message } from '@contract/own';
import { memo } from 'react';
import { useT } from '../i18n';
import { Markdown } from '../markdown/Markdown';
import { useLive } from '../state/live';
import type { LiveAnswer } from '../state/turnEvents';
import { AnswerActions } from './AnswerActions';
import { AnswerEnd } from './AnswerEnd';
import { AnswerWait } from './AnswerWait';
import { Thoughts } from './Thoughts';

interface Props {
  chat: ChatWithMessages;
  message: Message;
  last: boolean;
}

export const AnswerMessage = memo(function AnswerMessage({ chat, message, last }: Props) {
  const t = useT();
  const live = useLive((store) => store.answers[message.id]);
  // The end has come, but the finished message has not been put in place yet.
  const growing = live !== undefined && !live.end;
  const text = live?.text ?? message.text;
  const reasoning = live?.reasoning ?? message.reasoning;
  const dropped = live?.droppedTurns ?? message.receipt?.droppedTurns ?? 0;
  return (
    <article className="message message-answer" aria-label={t('thread.model')} aria-busy={growing}>
      {dropped > 0 && <p className="answer-note">{t('thread.dropped', { count: dropped })}</p>}
      {reasoning && <Thoughts message={message} reasoning={reasoning} live={live} />}
      {growing && !text && !reasoning && <AnswerWait live={live} />}
      {text && <Markdown text={text} growing={growing} />}
      {!live && <AnswerEnd chat={chat} message={message} />}
      {!live && <AnswerActions chat={chat} message={message} last={last} />}
      {last && <Announcement live={live} />}
    </article>
  );
});

/** For screen readers: the stages in words, not every token. */
function Announcement({ live }: { live: LiveAnswer | undefined }) {
  const t = useT();
  const words = live?.phase === 'thinking' ? t('thinking.now') : live?.phase === 'writing' ? t('status.writing') : '';
  return (
    <span className="hidden" role="status">
      {words}
    </span>
  );
}
