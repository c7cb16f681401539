// All chats by day, with a search over titles and texts, and the way to a new one.
import type { Chat } from '@contract/own';
import { Search, SquarePen, X } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { currentLanguage, useT } from '../i18n';
import { dayOf, type Day } from '../parts/format';
import { pageHref } from '../state/page';
import { useChats } from '../state/queries';
import { ChatListItem } from './ChatListItem';
import './chats.css';

interface Props {
  chatId: string | undefined;
  /** Called when a chat has been chosen, for where the list covers the page. */
  onChosen: () => void;
}

export function ChatList({ chatId, onChosen }: Props) {
  const t = useT();
  const [query, setQuery] = useState('');
  const wanted = useDeferredValue(query.trim());
  const { data: chats } = useChats(wanted);
  return (
    <div className="chats">
      <div className="chats-top">
        <a className="button chats-new" href={pageHref('chat')} onClick={onChosen}>
          <SquarePen size={16} aria-hidden />
          {t('chats.new')}
        </a>
        <div className="chats-search">
          <Search size={15} aria-hidden />
          <input
            data-search
            className="field"
            type="text"
            enterKeyHint="search"
            value={query}
            aria-label={t('chats.search')}
            placeholder={t('chats.search')}
            onChange={(event) => setQuery(event.target.value)}
            onKeyDown={(event) => event.key === 'Escape' && query && (event.preventDefault(), setQuery(''))}
          />
          {query && (
            <button type="button" className="icon-button" aria-label={t('chats.clear')} onClick={() => setQuery('')}>
              <X size={15} aria-hidden />
            </button>
          )}
        </div>
      </div>
      <nav className="chats-days" aria-label={t('chats.label')} onClick={(event) => isLink(event.target) && onChosen()}>
        {chats?.length === 0 && (
          <p className="chats-none">{wanted ? t('chats.noMatch', { query: wanted }) : t('chats.none')}</p>
        )}
        {chats && groups(chats).map(({ day, items }) => <DayGroup key={day} day={day} chats={items} chatId={chatId} />)}
      </nav>
    </div>
  );
}

const isLink = (target: EventTarget): boolean => target instanceof Element && target.closest('a') !== null;

function DayGroup({ day, chats, chatId }: { day: Day; chats: Chat[]; chatId: string | undefined }) {
  const t = useT();
  return (
    <section className="chats-day" lang={currentLanguage()}>
      <h2>{t(`day.${day}`)}</h2>
      <ul>
        {chats.map((chat) => (
          <ChatListItem key={chat.id} chat={chat} current={chat.id === chatId} />
        ))}
      </ul>
    </section>
  );
}

function groups(chats: readonly Chat[]): { day: Day; items: Chat[] }[] {
  const now = Date.now();
  const days = new Map<Day, Chat[]>();
  for (const chat of [...chats].sort((a, b) => b.updatedAt - a.updatedAt)) {
    const day = dayOf(chat.updatedAt, now);
    days.set(day, [...(days.get(day) ?? []), chat]);
  }
  return [...days].map(([day, items]) => ({ day, items }));
}
