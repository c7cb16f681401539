// What the person wrote, as written.
import type { ChatWithMessages, Message } from '@contract/own';
import { PenLine } from 'lucide-react';
import { memo, useState } from 'react';
import { useT } from '../i18n';
import { CopyButton } from '../parts/CopyButton';
import { setEditing } from '../composer/editing';
import { VersionPicker } from './VersionPicker';

export const UserMessage = memo(function UserMessage({ chat, message }: { chat: ChatWithMessages; message: Message }) {
  const t = useT();
  const [whole, setWhole] = useState(false);
  const long = isLong(message.text);
  const edit = (): void =>
    setEditing(chat.id, { messageId: message.id, parentId: message.parentId, text: message.text });
  return (
    <article className="message message-user" aria-label={t('thread.you')}>
      <div className="message-user-body">
        <div className="message-user-text" dir="auto">
          {long && !whole ? shortened(message.text) : message.text}
        </div>
        {long && (
          <button type="button" className="message-user-more" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {t(whole ? 'thread.showLess' : 'thread.showAll')}
          </button>
        )}
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

const MOST_CHARACTERS = 1600;
const MOST_LINES = 20;

/** Pasted documents do not push the conversation away. */
function isLong(text: string): boolean {
  return text.length > MOST_CHARACTERS * 1.5 || text.split('\n', MOST_LINES + 6).length > MOST_LINES + 5;
}

function shortened(text: string): string {
  const lines = text.slice(0, MOST_CHARACTERS).split('\n').slice(0, MOST_LINES).join('\n');
  return `${lines.trimEnd()} …`;
}
