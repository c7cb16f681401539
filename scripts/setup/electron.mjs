// Where Electron's binary is, without ever importing the package (that would start a download).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** The executable's path, or undefined where it has not been installed. */
export function electronBinary() {
  const folder = join(root, 'node_modules/electron');
  const name = join(folder, 'path.txt');
  if (!existsSync(name)) return undefined;
  const dist = process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(folder, 'dist');
  const path = join(dist, readFileSync(name, 'utf8').trim());
  return existsSync(path) ? path : undefined;
}
