// Light or dark, as chosen or as the system has it. The choice is remembered here too, so that the page never flashes.
import type { Settings } from '@contract/own';
import { save } from './prefs';

type Theme = Settings['theme'];

const KEY = 'hearth.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme = 'auto';

export function applyTheme(theme: Theme): void {
  chosen = theme;
  save(KEY, theme);
  const resolved = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
  document.documentElement.dataset.theme = resolved;
}

export function startTheme(): void {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(KEY);
  } catch {
    /* not remembered */
  }
  applyTheme(stored === 'light' || stored === 'dark' ? stored : 'auto');
  dark.addEventListener('change', () => applyTheme(chosen));
}
