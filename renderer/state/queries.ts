// What the page keeps of the server's data: chats, models, settings. One cache; components ask by these hooks only.
import type { Chat, ChatWithMessages, Message, Settings } from '@contract/own';
import { QueryClient, keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError, api } from '../api/client';
import { modelApi } from '../api/models';
import { hasEnded } from './live';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      networkMode: 'always',
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

const keys = {
  chats: ['chats'] as const,
  chat: (id: string) => ['chat', id] as const,
  models: ['models'] as const,
  settings: ['settings'] as const,
};

export const useChats = (query: string) =>
  useQuery({ queryKey: [...keys.chats, query], queryFn: () => api.chats(query), placeholderData: keepPreviousData });

export const useChat = (id: string | undefined) =>
  useQuery({
    queryKey: keys.chat(id ?? ''),
    queryFn: async () => withoutEndedTurn(await api.chat(id ?? '')),
    enabled: id !== undefined,
  });

export const useModels = () => useQuery({ queryKey: keys.models, queryFn: modelApi.list });

/** The remote engine that has this model; undefined where it lies on this computer. */
export const useRemoteOf = (model: string | undefined): string | undefined =>
  useModels().data?.find(({ name }) => name === model)?.remote;

export const useSettings = () => useQuery({ queryKey: keys.settings, queryFn: api.settings, staleTime: 60_000 });

export const refresh = {
  chats: () => void queryClient.invalidateQueries({ queryKey: keys.chats }),
  chat: (id: string) => void queryClient.invalidateQueries({ queryKey: keys.chat(id) }),
  models: () => void queryClient.invalidateQueries({ queryKey: keys.models }),
  settings: () => void queryClient.invalidateQueries({ queryKey: keys.settings }),
  all: () => void queryClient.invalidateQueries(),
};

export const cached = {
  chat: (id: string): ChatWithMessages | undefined => queryClient.getQueryData(keys.chat(id)),
  settings: (): Settings | undefined => queryClient.getQueryData(keys.settings),
};

export function setModels(models: Awaited<ReturnType<typeof modelApi.list>>): void {
  queryClient.setQueryData(keys.models, models);
}

export function setSettings(settings: Settings): void {
  queryClient.setQueryData(keys.settings, settings);
}

export function setChat(chat: ChatWithMessages): void {
  queryClient.setQueryData(keys.chat(chat.id), chat);
}

export function changeChat(id: string, change: (chat: ChatWithMessages) => ChatWithMessages): void {
  queryClient.setQueryData<ChatWithMessages>(keys.chat(id), (chat) => chat && change(chat));
}

export function changeChatLists(change: (chats: Chat[]) => Chat[]): void {
  queryClient.setQueriesData<Chat[]>({ queryKey: keys.chats }, (chats) => chats && change(chats));
}

/** What was asked before a change must not overwrite it. */
export async function settleChat(id: string): Promise<void> {
  await queryClient.cancelQueries({ queryKey: keys.chat(id) }, { revert: false });
}

function withoutEndedTurn(chat: ChatWithMessages): ChatWithMessages {
  if (chat.turn === undefined || !hasEnded(chat.turn)) return chat;
  const { turn: _, ...rest } = chat;
  return rest;
}

/** The chat with these messages put in, replacing those of the same id. */
export function withMessages(chat: ChatWithMessages, messages: readonly Message[]): ChatWithMessages {
  const ids = new Set(messages.map((message) => message.id));
  return { ...chat, messages: [...chat.messages.filter((message) => !ids.has(message.id)), ...messages] };
}
