// One chat in the list: open it, or rename or delete it from its menu.
import type { Chat } from '@contract/own';
import { Ellipsis, PenLine, Trash2 } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { memo, useState } from 'react';
import { useT } from '../i18n';
import { attempt, remove, rename, shortTitle } from '../state/actions';
import { Ember } from '../parts/Ember';
import { useLive } from '../state/live';
import { pageHref } from '../state/page';
import { TitleField } from './TitleField';
import '../parts/menu.css';

interface Props {
  chat: Chat;
  current: boolean;
}

export const ChatListItem = memo(function ChatListItem({ chat, current }: Props) {
  const t = useT();
  const [renaming, setRenaming] = useState(false);
  // In the chat that is open, the answer itself is to be seen.
  const writing = useLive((live) => !current && live.writing[chat.id] === true);
  if (renaming) {
    const finish = (title: string | undefined): void => {
      setRenaming(false);
      if (title) attempt(rename(chat, title));
    };
    return (
      <li className="chat-item">
        <TitleField title={chat.title} onDone={finish} />
      </li>
    );
  }
  return (
    <li className="chat-item" data-current={current}>
      <a href={pageHref('chat', chat.id)} aria-current={current ? 'page' : undefined} title={chat.title || undefined}>
        <bdi>{chat.title || t('chats.untitled')}</bdi>
        {writing && (
          <>
            <Ember />
            <span className="hidden">{t('chats.writing')}</span>
          </>
        )}
      </a>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className="icon-button" aria-label={t('chats.actions', { title: shortTitle(chat) })}>
          <Ellipsis size={16} aria-hidden />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="start" sideOffset={4}>
            <DropdownMenu.Item className="menu-item" onSelect={() => setTimeout(() => setRenaming(true))}>
              <PenLine size={15} aria-hidden />
              {t('chats.rename')}
            </DropdownMenu.Item>
            <DropdownMenu.Item className="menu-item" onSelect={() => attempt(remove(chat))}>
              <Trash2 size={15} aria-hidden />
              {t('chats.delete')}
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </li>
  );
});
