// Which model was last asked for, by this page or anybody: when its load fails, the state names only the model that goes on serving.
import type { AppState } from '@contract/own';
import { create } from 'zustand';

export const useLastLoad = create<{ name: string | undefined }>(() => ({ name: undefined }));

export function noteLoad({ active, swap }: Pick<AppState, 'active' | 'swap'>): void {
  const name = swap?.to ?? (active?.state === 'loading' ? active.name : undefined);
  if (name !== undefined && name !== useLastLoad.getState().name) useLastLoad.setState({ name });
}
