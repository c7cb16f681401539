// Under an answer: copy, write again, versions, and its numbers. Quiet on older answers until they are looked at.
import type { ChatWithMessages, Message } from '@contract/own';
import { RefreshCw } from 'lucide-react';
import { useT } from '../i18n';
import { CopyButton } from '../parts/CopyButton';
import { attempt, regenerate } from '../state/actions';
import { AnswerNumbers } from './AnswerNumbers';
import { VersionPicker } from './VersionPicker';

interface Props {
  chat: ChatWithMessages;
  message: Message;
  last: boolean;
}

export function AnswerActions({ chat, message, last }: Props) {
  const t = useT();
  const { parentId } = message;
  // Then the error itself offers another try.
  const failed = message.status === 'error' || message.finishReason === 'error';
  return (
    <div className="message-actions" data-last={last}>
      <VersionPicker chat={chat} message={message} />
      {message.text && <CopyButton text={message.text} label={t('thread.copy')} />}
      {parentId !== null && !chat.turn && !failed && (
        <button
          type="button"
          className="icon-button"
          aria-label={t('thread.regenerate')}
          title={t('thread.regenerate')}
          onClick={() => attempt(regenerate(chat.id, parentId))}
        >
          <RefreshCw size={15} aria-hidden />
        </button>
      )}
      <AnswerNumbers message={message} />
    </div>
  );
}
