// `npm start`: sets up what is missing, then runs the app; in a window where Electron can run, else as a page with its address printed.
// Arguments are those of `hearth serve`.
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { electronBinary } from './setup/electron.mjs';
import { say } from './setup/say.mjs';
import { root, setUp } from './setup/setup.mjs';

await setUp();

const electron = electronBinary();
const display = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
const headless = process.argv.includes('--json') || process.argv.includes('--headless');

if (electron && display && !headless) {
  const child = spawn(electron, [root, ...process.argv.slice(2)], { stdio: 'inherit' });
  child.on('close', (code) => process.exit(code ?? 1));
} else {
  if (!electron) say('Electron is not installed here, so Hearth runs as a page in your browser.');
  else if (!display && !headless) say('There is no display here, so Hearth runs as a page in your browser.');
  process.argv = process.argv.filter((argument) => argument !== '--headless');
  await import(pathToFileURL(join(root, 'dist/headless.js')).href);
}
