// Text not yet sent, per chat, kept across a reload. `undefined` stands for the chat that has not begun.
import { save } from './prefs';

const key = (chatId: string | undefined): string => `hearth.draft.${chatId ?? 'new'}`;

export function readDraft(chatId: string | undefined): string {
  try {
    return localStorage.getItem(key(chatId)) ?? '';
  } catch {
    return '';
  }
}

export function saveDraft(chatId: string | undefined, text: string): void {
  save(key(chatId), text || undefined);
}
