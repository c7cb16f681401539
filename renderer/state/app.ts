// The engine's state as the server tells it, and whether the server answers at all. Read-only for components.
import type { AppState } from '@contract/own';
import { ROUTES } from '@contract/routes';
import { create } from 'zustand';
import { follow } from '../api/streams';

export type Connection = 'starting' | 'ok' | 'lost' | 'refused';

interface AppStore {
  connection: Connection;
  state: AppState | undefined;
}

export const useApp = create<AppStore>(() => ({ connection: 'starting', state: undefined }));

let abort: AbortController | undefined;

/** Follows the state until the page ends. Calling it again begins anew, for instance with another key. */
export function followState(onChange: (now: AppState, before: AppState | undefined) => void): void {
  abort?.abort();
  abort = new AbortController();
  useApp.setState({ connection: 'starting' });
  void follow({
    url: () => ROUTES.stateEvents,
    ordered: false,
    signal: abort.signal,
    onEvent: (data) => {
      if (!isState(data)) return false;
      const before = useApp.getState().state;
      useApp.setState({ connection: 'ok', state: data });
      onChange(data, before);
      return false;
    },
    onLost: () => useApp.setState({ connection: 'lost' }),
    onRefused: () => useApp.setState({ connection: 'refused' }),
  });
}

function isState(data: unknown): data is AppState {
  return typeof data === 'object' && data !== null && 'memory' in data && 'url' in data;
}
