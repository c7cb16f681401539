// What every part of the settings is given.
import type { Settings } from '@contract/own';

export interface SettingsView {
  settings: Settings;
}
