// The peer, node-llama-cpp, from npm into a cache folder outside the tree: nothing of it is a dependency of Hearth. It takes the prebuilt
// binary for this machine's processor alone and builds nothing.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../../scripts/setup/run.mjs';
import { step } from '../../../scripts/setup/say.mjs';

export const PEER = 'node-llama-cpp';
export const PEER_VERSION = '3.21.1';

/** The module's entry file, installed at first use. */
export async function installPeer() {
  const cache = process.env.HEARTH_CACHE ?? join(homedir(), '.cache/hearth');
  const folder = join(cache, `peer-${PEER_VERSION}`);
  const entry = join(folder, 'node_modules', PEER, 'dist/index.js');
  const binary = `@node-llama-cpp/${binaryName()}`;
  if (existsSync(entry) && existsSync(join(folder, 'node_modules', binary))) return entry;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  // The optional packages are the same library for every kind of graphics card: half a gigabyte that a CPU run does not need.
  const packages = [PEER, binary].map((name) => `${name}@${PEER_VERSION}`);
  const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-package-lock'];
  await step(`Installing ${packages.join(' and ')}`, () =>
    run('npm', ['install', ...flags, ...packages], { cwd: folder }),
  );
  return entry;
}

function binaryName() {
  const names = {
    linux: { x64: 'linux-x64', arm64: 'linux-arm64' },
    darwin: { arm64: 'mac-arm64-metal', x64: 'mac-x64' },
  };
  const name = names[process.platform]?.[process.arch];
  if (!name)
    throw new Error(`the peer has no binary that this comparison knows for ${process.platform}-${process.arch}`);
  return name;
}
