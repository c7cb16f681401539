// The one window: loads the page from our own server, sandboxed, and remembers where it was.
import { join } from 'node:path';
import type { BrowserWindow } from 'electron';
import { readWindowState, writeWindowState } from './window-state';
import type { Electron, RunningApp } from './types';

interface WindowOptions {
  preload: string;
  stateFolder: string;
}

export async function openWindow(electron: Electron, app: RunningApp, options: WindowOptions): Promise<BrowserWindow> {
  const stateFile = join(options.stateFolder, 'window.json');
  const window = new electron.BrowserWindow({
    ...readWindowState(stateFile),
    minWidth: 480,
    minHeight: 360,
    show: false,
    title: 'Hearth',
    // The canvas tokens of the page, so that the first frame does not flash.
    backgroundColor: electron.nativeTheme.shouldUseDarkColors ? '#151110' : '#fcfaf8',
    webPreferences: {
      preload: options.preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
      spellcheck: true,
    },
  });
  window.once('ready-to-show', () => window.show());
  window.on('close', () => writeWindowState(stateFile, window.getNormalBounds()));
  await window.loadURL(app.url);
  return window;
}
