// What the person wrote, as written.
import type { ChatWithMessages, Message } from '@contract/own';
import { PenLine } from 'lucide-react';
import { memo } from 'react';
import { useT } from '../i18n';
import { CopyButton } from '../parts/CopyButton';
import { setEditing } from '../composer/editing';
import { VersionPicker } from './VersionPicker';

export const UserMessage = memo(function UserMessage({ chat, message }: { chat: ChatWithMessages; message: Message }) {
  const t = useT();
  const edit = (): void =>
    setEditing(chat.id, { messageId: message.id, parentId: message.parentId, text: message.text });
  return (
    <article className="message message-user" aria-label={t('thread.you')}>
      <div className="message-user-text" dir="auto">
        {message.text}
      </div>
      <div className="message-actions">
        <VersionPicker chat={chat} message={message} />
        <CopyButton text={message.text} label={t('thread.copyMessage')} />
        {!chat.turn && (
          <button
            type="button"
            className="icon-button"
            aria-label={t('thread.edit')}
            title={t('thread.edit')}
            onClick={edit}
          >
            <PenLine size={15} aria-hidden />
          </button>
        )}
      </div>
    </article>
  );
});
