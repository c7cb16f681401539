// The page that people live in: chats on the left, the conversation in the middle, how it answers on the right.
import { branchOf } from '@contract/branch';
import type { ChatWithMessages } from '@contract/own';
import { PanelLeft, SlidersHorizontal } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ApiError } from '../api/client';
import { ChatList } from '../chats/ChatList';
import { Composer } from '../composer/Composer';
import { Suggestions } from '../composer/Suggestions';
import { useT } from '../i18n';
import { Inspector } from '../inspector/Inspector';
import { ModelPill } from '../model/ModelPill';
import { attachIfWriting } from '../state/actions';
import { setPref, usePrefs } from '../state/prefs';
import { useChat } from '../state/queries';
import { Thread } from '../thread/Thread';
import { useStickHandle } from '../thread/useStick';
import { ChatTitle } from './ChatTitle';
import { Hello } from './Hello';
import './chatPage.css';

export function ChatPage({ chatId }: { chatId: string | undefined }) {
  const t = useT();
  const inspectorOpen = usePrefs((prefs) => prefs.inspectorOpen);
  const [listOpen, setListOpen] = useState(false);
  const { data: chat, error } = useChat(chatId);
  const title = chat?.title;
  useEffect(() => {
    document.title = title ? `${title} – Hearth` : 'Hearth';
    return () => void (document.title = 'Hearth');
  }, [title]);
  // Only small windows have this button: there one panel at a time, or the two cover each other.
  const toggleList = (): void => {
    if (!listOpen && inspectorOpen) setPref({ inspectorOpen: false });
    setListOpen(!listOpen);
  };
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <div
      className="chat-page"
      data-inspector={inspectorOpen}
      data-list={listOpen}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !listOpen) return;
        event.preventDefault();
        setListOpen(false);
      }}
    >
      <div className="chat-list">
        <ChatList chatId={chatId} onChosen={() => setListOpen(false)} />
      </div>
      {listOpen && (
        <button type="button" className="chat-veil" aria-label={t('common.close')} onClick={() => setListOpen(false)} />
      )}
      <div className="chat-main">
        <header className="chat-head">
          <div className="chat-head-start">
            <button
              type="button"
              className="icon-button chat-list-button"
              aria-label={t('chats.show')}
              aria-expanded={listOpen}
              onClick={toggleList}
            >
              <PanelLeft size={18} aria-hidden />
            </button>
            {chat ? <ChatTitle key={chat.id} chat={chat} /> : <h1 className="hidden">{t('chats.new')}</h1>}
          </div>
          <ModelPill />
          <div className="chat-head-end">
            <button
              type="button"
              className="icon-button"
              aria-pressed={inspectorOpen}
              aria-label={t('inspector.show')}
              title={t('inspector.show')}
              onClick={() => setPref({ inspectorOpen: !inspectorOpen })}
            >
              <SlidersHorizontal size={18} aria-hidden />
            </button>
          </div>
        </header>
        {gone ? (
          <p className="chat-gone">{t('chats.gone')}</p>
        ) : (
          <Conversation key={chatId ?? 'new'} chatId={chatId} chat={chat} />
        )}
      </div>
      {inspectorOpen && <Inspector chatId={chatId} />}
    </div>
  );
}

function Conversation({ chatId, chat }: { chatId: string | undefined; chat: ChatWithMessages | undefined }) {
  const stick = useStickHandle();
  const turn = chat?.turn;
  const messages = chat?.messages;
  useEffect(() => {
    if (chatId && messages) attachIfWriting(chatId, turn, messages);
  }, [chatId, turn, messages]);
  const lastUserText =
    chat && branchOf(chat.messages, chat.headId).findLast((message) => message.role === 'user')?.text;
  const composer = <Composer chatId={chatId} turn={turn} lastUserText={lastUserText} onSent={stick.toBottom} />;
  if (chatId === undefined) {
    return (
      <div className="chat-start">
        <div className="chat-start-inner">
          <Hello />
          {composer}
          <Suggestions />
        </div>
      </div>
    );
  }
  return (
    <>
      {chat ? <Thread chat={chat} stick={stick} /> : <div className="thread-place" />}
      <div className="chat-foot">{composer}</div>
    </>
  );
}
