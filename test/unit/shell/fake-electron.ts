// A hand-made Electron for the shell's tests: records what it is told, and lets a test fire the events.
import { EventEmitter } from 'node:events';
import { vi } from 'vitest';
import type { Electron } from '../../../electron/shell/types';

export class FakeContents extends EventEmitter {
  url = '';
  openHandler: ((details: { url: string }) => { action: string }) | undefined;
  readonly sent: unknown[][] = [];
  getURL = () => this.url;
  setWindowOpenHandler = (handler: typeof this.openHandler) => (this.openHandler = handler);
  send = (...message: unknown[]) => this.sent.push(message);
}

export class FakeWindow extends EventEmitter {
  static readonly all: FakeWindow[] = [];
  readonly webContents = new FakeContents();
  readonly options: { webPreferences: Record<string, unknown> };
  minimized = false;
  constructor(options: FakeWindow['options']) {
    super();
    this.options = options;
    FakeWindow.all.push(this);
  }
  loadURL = async (url: string) => void (this.webContents.url = url);
  show = vi.fn();
  focus = vi.fn();
  restore = vi.fn();
  isMinimized = () => this.minimized;
  getNormalBounds = () => ({ width: 900, height: 700, x: 1, y: 2 });
}

type Handler = (event: unknown, ...args: unknown[]) => unknown;

export function fakeElectron({ firstInstance = true } = {}) {
  FakeWindow.all.length = 0;
  const app = Object.assign(new EventEmitter(), {
    requestSingleInstanceLock: () => firstInstance,
    enableSandbox: vi.fn(),
    setAsDefaultProtocolClient: vi.fn(),
    whenReady: async () => {},
    getLocale: () => 'en-GB',
    getPath: () => '/nonexistent',
    quit: vi.fn(),
    exit: vi.fn(),
  });
  const session = { setPermissionRequestHandler: vi.fn(), setPermissionCheckHandler: vi.fn() };
  const handlers = new Map<string, Handler>();
  const parts = {
    app,
    BrowserWindow: FakeWindow,
    Menu: { buildFromTemplate: vi.fn((template: unknown) => template), setApplicationMenu: vi.fn() },
    ipcMain: Object.assign(new EventEmitter(), {
      handlers,
      handle: (channel: string, handler: Handler) => void handlers.set(channel, handler),
    }),
    session: { defaultSession: session },
    shell: { openExternal: vi.fn(async () => {}) },
    dialog: {
      showErrorBox: vi.fn(),
      showOpenDialog: vi.fn(async (..._: unknown[]) => ({ canceled: false, filePaths: ['/media/models'] })),
    },
    nativeTheme: { shouldUseDarkColors: false },
    utilityProcess: {},
  };
  return { parts, electron: parts as unknown as Electron };
}
