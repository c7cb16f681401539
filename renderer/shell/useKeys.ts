// Keys that work on the whole page. Backspace and Delete alone never do anything; what deletes can be taken back.
import { useEffect } from 'react';
import { attempt, remove, stop } from '../state/actions';
import { turnOf, useLive } from '../state/live';
import { currentPage, goTo } from '../state/page';
import { setPref, usePrefs } from '../state/prefs';
import { cached } from '../state/queries';

export function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      if (event.key === 'Escape' && stopOpenChat()) return event.preventDefault();
      if (!(event.ctrlKey || event.metaKey)) return;
      const action = withControl(event);
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

function withControl(event: KeyboardEvent): (() => void) | undefined {
  const key = event.key.toLowerCase();
  if (event.shiftKey && key === 'backspace') return deleteOpenChat;
  if (event.altKey && key === 'b') return () => setPref({ inspectorOpen: !usePrefs.getState().inspectorOpen });
  if (event.shiftKey || event.altKey) return undefined;
  if (key === 'k') return () => focus('[data-search]', true);
  if (key === ',') return () => goTo('settings');
  return undefined;
}

/** At once where the field is there, so that the next key already lands in it. */
function focus(selector: string, onChatPage: boolean): void {
  if (onChatPage && currentPage().name !== 'chat') goTo('chat');
  const field = (): HTMLElement | null => document.querySelector<HTMLElement>(selector);
  const now = field();
  if (now) now.focus();
  else requestAnimationFrame(() => field()?.focus());
}

function deleteOpenChat(): void {
  const { chatId } = currentPage();
  const chat = chatId ? cached.chat(chatId) : undefined;
  if (chat) attempt(remove(chat));
}

/** Stops the answer of the chat in view. False where none is being written, or something else is open on the page. */
function stopOpenChat(): boolean {
  if (document.querySelector('[data-radix-popper-content-wrapper], [role="dialog"][data-state="open"]')) return false;
  const { chatId } = currentPage();
  const chat = chatId ? cached.chat(chatId) : undefined;
  const answers = useLive.getState().answers;
  const message = chat?.messages.find((candidate) => answers[candidate.id]);
  const turn = message && turnOf(message.id);
  if (!turn) return false;
  stop(turn);
  return true;
}
