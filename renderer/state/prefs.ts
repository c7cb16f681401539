// What this browser remembers about the page itself: open panels and the like. Chats and settings live on the server, not here.
import { create } from 'zustand';

interface Prefs {
  inspectorOpen: boolean;
  /** Whether thoughts are shown when they appear. */
  thoughtsOpen: boolean;
  wrapCode: boolean;
}

const KEY = 'hearth.prefs';
const defaults: Prefs = { inspectorOpen: false, thoughtsOpen: false, wrapCode: false };

export const usePrefs = create<Prefs>(() => ({ ...defaults, ...read() }));

export function setPref(change: Partial<Prefs>): void {
  usePrefs.setState(change);
  save(KEY, JSON.stringify(usePrefs.getState()));
}

function read(): Partial<Prefs> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Storage may be full or forbidden; then it is simply not remembered. */
export function save(key: string, value: string | undefined): void {
  try {
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  } catch {
    /* not remembered */
  }
}
