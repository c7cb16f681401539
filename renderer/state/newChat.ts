// Settings chosen before a chat exists: they are given to it when its first message is sent.
import type { ChatSettings } from '@contract/own';
import { create } from 'zustand';

interface NewChat {
  settings: Partial<ChatSettings>;
}

export const useNewChat = create<NewChat>(() => ({ settings: {} }));

export const DEFAULT_SETTINGS: ChatSettings = {
  answerLength: 'unlimited',
  creativity: 'balanced',
  memory: 'all',
  effort: 'medium',
  instructions: '',
};
