// The one bridge to the page: the server's token and the menu's commands. Runs sandboxed; exposes no Electron object.
import { contextBridge, ipcRenderer } from 'electron';
import { BRIDGE_CHANNELS, type Bridge, type ShellCommand } from './contract/bridge';

const bridge: Bridge = {
  token: ipcRenderer.sendSync(BRIDGE_CHANNELS.token) as string,
  platform: process.platform,
  onCommand(listener) {
    const forward = (_event: unknown, command: ShellCommand) => listener(command);
    ipcRenderer.on(BRIDGE_CHANNELS.command, forward);
    ipcRenderer.send(BRIDGE_CHANNELS.listening);
    return () => ipcRenderer.removeListener(BRIDGE_CHANNELS.command, forward);
  },
  choosePath: (what) => ipcRenderer.invoke(BRIDGE_CHANNELS.choosePath, what) as Promise<string | undefined>,
};

contextBridge.exposeInMainWorld('hearth', bridge);
