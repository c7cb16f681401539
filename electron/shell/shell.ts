// Hearth in a window: one instance, one window, the app of app.ts behind it. Decisions are in the files beside; this is their order.
import type { BrowserWindow, OpenDialogOptions } from 'electron';
import { BRIDGE_CHANNELS, type ShellCommand } from '../contract/bridge';
import { guardContents, guardSession } from './guard';
import { deepLinkOf, isOwnPage, parseDeepLink } from './links';
import { menuTemplate } from './menu';
import type { Electron, RunningApp } from './types';
import { openWindow } from './window';

export interface ShellOptions {
  argv: string[];
  platform: string;
  preload: string;
  /** Starts the app. The shell calls it once, after Electron is ready. */
  startApp(): Promise<RunningApp>;
}

/** Runs until the app quits. Resolves once the window is there, or false where another instance has taken over. */
export async function startShell(electron: Electron, options: ShellOptions): Promise<boolean> {
  if (!electron.app.requestSingleInstanceLock()) {
    electron.app.quit();
    return false;
  }
  electron.app.enableSandbox();
  electron.app.setAsDefaultProtocolClient('hearth');
  let window: BrowserWindow | undefined;
  // What came before the page listens: it asks for it when it does.
  let early: ShellCommand | undefined;
  let listening = false;
  const send = (command: ShellCommand | undefined) => {
    if (!command) return;
    if (window && listening) window.webContents.send(BRIDGE_CHANNELS.command, command);
    else early = command;
  };
  const openLink = (address: string | undefined) => {
    if (address) send(parseDeepLink(address));
  };
  electron.app.on('second-instance', (_event, argv) => {
    if (window?.isMinimized()) window.restore();
    window?.focus();
    openLink(deepLinkOf(argv));
  });
  electron.app.on('open-url', (event, address) => {
    event.preventDefault();
    openLink(address);
  });

  await electron.app.whenReady();
  const app = await startOrExplain(electron, options);
  if (!app) return false;
  closeOnQuit(electron, app, options.platform);

  const { origin } = new URL(app.url);
  electron.ipcMain.on(BRIDGE_CHANNELS.token, (event) => {
    event.returnValue = event.senderFrame && isOwnPage(event.senderFrame.url, origin) ? app.token : '';
  });
  electron.ipcMain.on(BRIDGE_CHANNELS.listening, () => {
    listening = true;
    send(early);
    early = undefined;
  });
  electron.ipcMain.handle(BRIDGE_CHANNELS.choosePath, (event, what: unknown) =>
    event.senderFrame && isOwnPage(event.senderFrame.url, origin) ? choosePath(electron, window, what) : undefined,
  );
  guardSession(electron.session.defaultSession, origin);
  electron.app.on('web-contents-created', (_event, contents) => guardContents(electron, contents, origin));
  electron.Menu.setApplicationMenu(
    electron.Menu.buildFromTemplate(menuTemplate(options.platform, electron.app.getLocale(), send)),
  );

  const open = async () => {
    window = await openWindow(electron, app, {
      preload: options.preload,
      stateFolder: electron.app.getPath('userData'),
    });
    window.on('closed', () => {
      window = undefined;
      listening = false;
    });
  };
  electron.app.on('activate', () => {
    if (!window) void open();
  });
  openLink(deepLinkOf(options.argv));
  await open();
  return true;
}

async function choosePath(
  electron: Electron,
  window: BrowserWindow | undefined,
  what: unknown,
): Promise<string | undefined> {
  const options: OpenDialogOptions = { properties: [what === 'file' ? 'openFile' : 'openDirectory'] };
  const { dialog } = electron;
  const { filePaths } = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options));
  return filePaths[0];
}

/** A start that fails says why in a dialog, and the program ends. */
async function startOrExplain(electron: Electron, options: ShellOptions): Promise<RunningApp | undefined> {
  try {
    return await options.startApp();
  } catch (error) {
    electron.dialog.showErrorBox('Hearth', error instanceof Error ? error.message : String(error));
    electron.app.exit(1);
    return undefined;
  }
}

/** Closing the last window ends Hearth (on a Mac it stays in the dock); running children are ended before the program is. */
function closeOnQuit(electron: Electron, app: RunningApp, platform: string): void {
  electron.app.on('window-all-closed', () => {
    if (platform !== 'darwin') electron.app.quit();
  });
  let closed = false;
  electron.app.on('will-quit', (event) => {
    if (closed) return;
    event.preventDefault();
    void app.close().finally(() => {
      closed = true;
      electron.app.quit();
    });
  });
}
