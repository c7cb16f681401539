// Which page is shown, kept in the address after '#'. Back and forward work; nothing here talks to the server.
import { useSyncExternalStore } from 'react';

export const PAGES = ['chat', 'models', 'server', 'settings'] as const;
export type PageName = (typeof PAGES)[number];

export interface Page {
  name: PageName;
  chatId: string | undefined;
  /** A part of a page that is not the chat: `#/models/discover`. */
  part: string | undefined;
}

export function parsePage(hash: string): Page {
  const [name, id] = hash.replace(/^#\/?/, '').split('/');
  const page = PAGES.find((known) => known === name) ?? 'chat';
  const rest = id ? decodeURIComponent(id) : undefined;
  return page === 'chat'
    ? { name: page, chatId: rest, part: undefined }
    : { name: page, chatId: undefined, part: rest };
}

let page = parsePage(location.hash);
let lastChatId = page.chatId;
const listeners = new Set<() => void>();

window.addEventListener('hashchange', () => {
  page = parsePage(location.hash);
  if (page.name === 'chat') lastChatId = page.chatId;
  for (const listener of listeners) listener();
});

export const currentPage = (): Page => page;

export const usePage = (): Page =>
  useSyncExternalStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => page,
  );

export const pageHref = (name: PageName, id?: string): string =>
  id === undefined ? `#/${name}` : `#/${name}/${encodeURIComponent(id)}`;

/** Back from another page to the chat that was open. */
export const chatHref = (): string => pageHref('chat', lastChatId);

export function goTo(name: PageName, id?: string): void {
  location.hash = pageHref(name, id);
}
