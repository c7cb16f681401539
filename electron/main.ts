// Entry under Electron: hands `electron` and the app to the shell.
import { join } from 'node:path';
import * as electron from 'electron';
import { portableData, startApp } from './app';
import { ENVIRONMENT } from './contract/runtime';
import { entry } from './entries';
import { startShell } from './shell/shell';
import { utilityHosts } from './shell/utility-host';

const parent = { [ENVIRONMENT.parent]: String(process.pid) };
// In a package the addon lies outside the archive, where the system can load it.
const addon: Record<string, string> = electron.app.isPackaged
  ? { [ENVIRONMENT.addon]: join(process.resourcesPath, 'engine', 'hearth.node') }
  : {};

const portable = portableData();
if (portable !== undefined) electron.app.setPath('userData', join(portable, 'window'));

await startShell(electron, {
  argv: process.argv,
  platform: process.platform,
  preload: join(import.meta.dirname, 'preload.cjs'),
  startApp: () => startApp({ spawn: utilityHosts(electron, entry('runtime').path, { ...parent, ...addon }) }),
});
