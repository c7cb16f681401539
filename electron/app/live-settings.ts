// The settings as they are at each moment, for services that ask for them all the time. The store is the one that writes them.
import type { Settings } from '../contract/own';
import type { Store } from '../store/types';

export interface LiveSettings {
  now(): Settings;
  /** Writes through it are seen by `now`. */
  store: Store;
}

export async function liveSettings(store: Store): Promise<LiveSettings> {
  let current = await store.settings();
  return {
    now: () => current,
    store: { ...store, patchSettings: async (patch) => (current = await store.patchSettings(patch)) },
  };
}
