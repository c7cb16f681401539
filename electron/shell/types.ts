// What the shell needs of Electron and of the app: both are arguments, so that tests can give their own.
import type * as ElectronModule from 'electron';

export type Electron = Pick<
  typeof ElectronModule,
  'app' | 'BrowserWindow' | 'Menu' | 'ipcMain' | 'session' | 'shell' | 'dialog' | 'utilityProcess' | 'nativeTheme'
>;

/** The running app, as the composition root gives it. */
export interface RunningApp {
  url: string;
  token: string;
  close(): Promise<void>;
}
