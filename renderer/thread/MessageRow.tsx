// One message of the conversation, drawn by its role.
import type { ChatWithMessages, Message } from '@contract/own';
import { memo } from 'react';
import { AnswerMessage } from './AnswerMessage';
import { UserMessage } from './UserMessage';

interface Props {
  chat: ChatWithMessages;
  message: Message;
  last: boolean;
}

export const MessageRow = memo(
  function MessageRow({ chat, message, last }: Props) {
    return message.role === 'user' ? (
      <UserMessage chat={chat} message={message} />
    ) : (
      <AnswerMessage chat={chat} message={message} last={last} />
    );
  },
  (a, b) =>
    a.message === b.message && a.last === b.last && a.chat.messages === b.chat.messages && a.chat.turn === b.chat.turn,
);
