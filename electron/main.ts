// Entry under Electron: hands `electron` and the app to the shell.
import { join } from 'node:path';
import * as electron from 'electron';
import { startApp } from './app';
import { entry } from './entries';
import { startShell } from './shell/shell';
import { utilityHosts } from './shell/utility-host';

/** The variable by which a child knows whom to outlive by no more than seconds (supervisor/host.ts). */
const parent = { HEARTH_PARENT: String(process.pid) };
// In a package the addon lies outside the archive, where the system can load it.
const addon: Record<string, string> = electron.app.isPackaged
  ? { HEARTH_ADDON: join(process.resourcesPath, 'engine', 'hearth.node') }
  : {};

await startShell(electron, {
  argv: process.argv,
  platform: process.platform,
  preload: join(import.meta.dirname, 'preload.cjs'),
  startApp: () => startApp({ spawn: utilityHosts(electron, entry('runtime').path, { ...parent, ...addon }) }),
});
