// What a person can do: send, stop, write again, choose a version, rename, delete and take back, change settings. Models: modelActions.ts.
// Each asks the server and brings the caches up to date. Failures are thrown to the caller or said in a toast.
import type { Chat, ChatSettings, Message, SettingsPatch, TurnRequest, TurnStarted } from '@contract/own';
import { toast } from 'sonner';
import { ApiError, api } from '../api/client';
import { t } from '../i18n';
import { headThrough } from './branch';
import { attachTurn, setLiveHooks, useLive } from './live';
import { refreshModel } from './modelQueries';
import { useNewChat } from './newChat';
import { currentPage, goTo } from './page';
import {
  cached,
  changeChat,
  changeChatLists,
  refresh,
  setChat,
  setSettings,
  settleChat,
  withMessages,
} from './queries';

export function sayError(error: unknown): void {
  const code = error instanceof ApiError ? error.code : 'internal';
  const lost = error instanceof ApiError && error.status === 0;
  if (lost) toast.error(t('connect.lost'));
  else toast.error(t(`error.${code}`), { description: t(`remedy.${code}`) });
}

/** Runs an action whose failure is only said. */
export function attempt(action: Promise<unknown>): void {
  action.catch(sayError);
}

export function startLive(): void {
  setLiveHooks({
    onTitle: (chatId, title) => {
      changeChat(chatId, (chat) => ({ ...chat, title }));
      changeChatLists((chats) => chats.map((chat) => (chat.id === chatId ? { ...chat, title } : chat)));
    },
    onEnd: (chatId, { end }) => {
      void settleChat(chatId);
      if (end) changeChat(chatId, (chat) => withoutTurn(withMessages(chat, [end])));
      if (!cached.chat(chatId)?.title) refresh.chat(chatId);
      refresh.chats();
    },
    onGone: (chatId) => {
      changeChat(chatId, withoutTurn);
      refresh.chat(chatId);
    },
  });
}

function withoutTurn<T extends { turn?: string | undefined }>(chat: T): T {
  const { turn: _, ...rest } = chat;
  return rest as T;
}

/** Begins a chat where there is none. Resolves when the server has stored the message. */
export async function send(chatId: string | undefined, text: string, parentId?: string | null): Promise<void> {
  let id = chatId;
  if (id === undefined) {
    const chat = await api.createChat(useNewChat.getState().settings);
    setChat({ ...chat, messages: [] });
    id = chat.id;
  }
  const request: TurnRequest = parentId === undefined ? { text } : { text, parentId };
  try {
    await begin(id, request);
  } catch (error) {
    // A chat that never began is not left behind.
    if (chatId === undefined) api.deleteChat(id).then(refresh.chats, () => undefined);
    throw error;
  }
  if (chatId !== undefined) return;
  useNewChat.setState({ settings: {} });
  goTo('chat', id);
}

export async function regenerate(chatId: string, userMessageId: string): Promise<void> {
  await begin(chatId, { regenerate: userMessageId });
}

async function begin(chatId: string, request: TurnRequest): Promise<void> {
  const started: TurnStarted = await api.startTurn(chatId, request);
  await settleChat(chatId);
  changeChat(chatId, (chat) => ({
    ...withMessages(chat, [started.user, started.assistant]),
    headId: started.assistant.id,
    turn: started.turn,
    updatedAt: Date.now(),
  }));
  attachTurn(chatId, started.turn, started.assistant.id);
  refresh.chats();
}

export function stop(turn: string): void {
  useLive.setState(({ stopping }) => ({ stopping: { ...stopping, [turn]: true } }));
  attempt(api.stopTurn(turn));
}

export function showVersion(chatId: string, messageId: string): void {
  const chat = cached.chat(chatId);
  if (!chat) return;
  const headId = headThrough(chat.messages, messageId);
  changeChat(chatId, (old) => ({ ...old, headId }));
  attempt(api.patchChat(chatId, { headId }));
}

export async function rename(chat: Chat, title: string): Promise<void> {
  const trimmed = title.trim().slice(0, 200);
  if (!trimmed || trimmed === chat.title) return;
  const apply = (value: string): void => {
    changeChat(chat.id, (old) => ({ ...old, title: value }));
    changeChatLists((chats) => chats.map((other) => (other.id === chat.id ? { ...other, title: value } : other)));
  };
  apply(trimmed);
  try {
    await api.patchChat(chat.id, { title: trimmed });
  } catch (error) {
    apply(chat.title);
    throw error;
  }
}

const UNDO_MS = 10_000;

export async function remove(chat: Chat): Promise<void> {
  await api.deleteChat(chat.id);
  changeChatLists((chats) => chats.filter((other) => other.id !== chat.id));
  const wasOpen = currentPage().chatId === chat.id;
  if (wasOpen) goTo('chat');
  toast(t('chats.deleted', { title: shortTitle(chat) }), {
    duration: UNDO_MS,
    action: { label: t('common.undo'), onClick: () => attempt(restore(chat.id, wasOpen)) },
  });
}

async function restore(id: string, open: boolean): Promise<void> {
  await api.restoreChat(id);
  refresh.chats();
  refresh.chat(id);
  if (open) goTo('chat', id);
  toast(t('chats.restored'), { duration: 2000 });
}

export function shortTitle(chat: Chat): string {
  const title = chat.title || t('chats.untitled');
  const letters = [...title];
  return letters.length > 40 ? `${letters.slice(0, 39).join('')}…` : title;
}

/** For one chat, or for the one about to begin. The page shows the choice at once. */
export function changeSettings(chatId: string | undefined, patch: Partial<ChatSettings>): void {
  if (chatId === undefined) {
    useNewChat.setState(({ settings }) => ({ settings: { ...settings, ...patch } }));
    return;
  }
  changeChat(chatId, (chat) => ({ ...chat, settings: { ...chat.settings, ...patch } }));
  api.patchChat(chatId, { settings: patch }).catch((error: unknown) => {
    refresh.chat(chatId);
    sayError(error);
  });
}

const WAY_OUT = ['offline', 'hubMirror', 'proxy'] as const;

/** The page shows the choice at once; of a token only that there is one. */
export function saveSettings({ hubToken, ...patch }: SettingsPatch): void {
  const before = cached.settings();
  const token = hubToken === undefined ? undefined : { hubToken };
  if (before) setSettings({ ...before, ...patch, ...(token && { hubTokenSet: hubToken !== '' }) });
  api.patchSettings({ ...patch, ...token }).then(
    (settings) => {
      setSettings(settings);
      // Not before the server goes the new way: what was asked by the old one would stand for a minute.
      if (WAY_OUT.some((name) => name in patch) || token) refreshModel.network();
    },
    (error: unknown) => {
      if (before) setSettings(before);
      sayError(error);
    },
  );
}

/** Attaches to the turn that the server says is being written in this chat. */
export function attachIfWriting(chatId: string, turn: string | undefined, messages: readonly Message[]): void {
  if (!turn) return;
  const message = messages.findLast((candidate) => candidate.status === 'streaming');
  if (message) attachTurn(chatId, turn, message.id, message.text);
}
