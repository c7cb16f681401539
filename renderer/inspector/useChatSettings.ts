// The settings that hold for a chat, or for the one about to begin.
import type { ChatSettings } from '@contract/own';
import { DEFAULT_SETTINGS, useNewChat } from '../state/newChat';
import { useChat, useSettings } from '../state/queries';

export function useChatSettings(chatId: string | undefined): ChatSettings {
  const { data: chat } = useChat(chatId);
  const { data: settings } = useSettings();
  const chosen = useNewChat((state) => state.settings);
  const defaults = settings?.chat ?? DEFAULT_SETTINGS;
  return chatId === undefined ? { ...defaults, ...chosen } : (chat?.settings ?? defaults);
}
