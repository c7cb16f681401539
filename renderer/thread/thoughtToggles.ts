// Which answers' thoughts were opened or folded by hand, kept while rows come and go with scrolling.
import { create } from 'zustand';

export const thoughtToggles = create<Record<string, boolean>>(() => ({}));

export function toggleThought(messageId: string, open: boolean): void {
  thoughtToggles.setState({ [messageId]: open });
}
