// Text that comes from outside for a new chat: a link or the window's menu. It stands in the box; only the user sends it.
import { create } from 'zustand';
import { saveDraft } from '../state/drafts';

export const usePrefill = create<{ text: string }>(() => ({ text: '' }));

export function prefill(text: string): void {
  const bounded = text.slice(0, 20_000);
  saveDraft(undefined, bounded);
  usePrefill.setState({ text: bounded });
}
