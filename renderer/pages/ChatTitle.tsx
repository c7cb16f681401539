// The chat's name at the top; pressing it renames.
import type { Chat } from '@contract/own';
import { useState } from 'react';
import { TitleField } from '../chats/TitleField';
import { useT } from '../i18n';
import { attempt, rename } from '../state/actions';

export function ChatTitle({ chat }: { chat: Chat }) {
  const t = useT();
  const [renaming, setRenaming] = useState(false);
  if (renaming) {
    const finish = (title: string | undefined): void => {
      setRenaming(false);
      if (title) attempt(rename(chat, title));
    };
    return <TitleField title={chat.title} onDone={finish} />;
  }
  return (
    <h1 className="chat-title">
      <button type="button" title={t('chats.rename')} onClick={() => setRenaming(true)}>
        <bdi>{chat.title || t('chats.untitled')}</bdi>
      </button>
    </h1>
  );
}
