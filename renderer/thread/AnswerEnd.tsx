// How an answer ended, where that was not simply its end: stopped, interrupted, failed, cut, empty. Words, and a way on.
import type { ChatWithMessages, Message } from '@contract/own';
import { CircleSlash, CircleStop, Ruler, Repeat } from 'lucide-react';
import type { ReactNode } from 'react';
import { useT } from '../i18n';
import { ErrorNote } from '../parts/ErrorNote';
import { attempt, regenerate } from '../state/actions';

export function AnswerEnd({ chat, message }: { chat: ChatWithMessages; message: Message }) {
  const t = useT();
  const { status, finishReason, error, parentId } = message;
  const again = parentId !== null && !chat.turn && (
    <button type="button" className="button" onClick={() => attempt(regenerate(chat.id, parentId))}>
      {t('common.retry')}
    </button>
  );
  if (status === 'error' || finishReason === 'error') {
    return <ErrorNote error={error ?? { code: 'internal', message: '' }}>{again}</ErrorNote>;
  }
  if (status === 'interrupted') {
    return (
      <Note icon={<CircleSlash size={15} aria-hidden />}>
        {t('common.sentences', { first: t('thread.interrupted'), second: t('thread.interruptedRemedy') })}
      </Note>
    );
  }
  if (status === 'stopped' || finishReason === 'cancelled') {
    return <Note icon={<CircleStop size={15} aria-hidden />}>{t('thread.stopped')}</Note>;
  }
  if (finishReason === 'repetition')
    return <Note icon={<Repeat size={15} aria-hidden />}>{t('thread.repetition')}</Note>;
  if (finishReason === 'length') return <Note icon={<Ruler size={15} aria-hidden />}>{t('thread.length')}</Note>;
  if (status === 'complete' && !message.text) return <Note>{t('thread.empty')}</Note>;
  return null;
}

function Note({ icon, children }: { icon?: ReactNode; children: ReactNode }) {
  return (
    <p className="answer-note">
      {icon}
      <span>{children}</span>
    </p>
  );
}
