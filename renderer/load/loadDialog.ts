// Which model's load is being chosen. One dialog for the whole window: it opens from a card, the picker and a failed load.
import { create } from 'zustand';

export const useLoadDialog = create<{ model: string | undefined }>(() => ({ model: undefined }));

export const openLoad = (model: string): void => useLoadDialog.setState({ model });
export const closeLoad = (): void => useLoadDialog.setState({ model: undefined });
