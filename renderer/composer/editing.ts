// Which earlier message is being written anew. Sending it makes a new version beside the old one.
import { create } from 'zustand';

export interface Editing {
  messageId: string;
  parentId: string | null;
  text: string;
}

interface EditingStore {
  chatId: string | undefined;
  editing: Editing | undefined;
}

export const useEditing = create<EditingStore>(() => ({ chatId: undefined, editing: undefined }));

export function setEditing(chatId: string | undefined, editing: Editing | undefined): void {
  useEditing.setState({ chatId, editing });
}
