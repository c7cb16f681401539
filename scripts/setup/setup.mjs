// Everything that Hearth needs before it can run or be tested on a bare machine. Each step does nothing when it has been done.
// It needs Node, npm and a C++ compiler's packages: no Python, no GPU, no display.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { has, run } from './run.mjs';
import { giveUp, step } from './say.mjs';
import { whenStale } from './stamp.mjs';

export const root = resolve(fileURLToPath(import.meta.url), '../../..');
const stamps = join(root, 'node_modules/.cache/hearth');
const target = `${process.platform}-${process.arch}`;
export const nativeBuild = join(root, 'build/native');

/** Debian package by the command (or file) that shows that it is there. */
const PACKAGES = {
  build: [
    ['cmake', () => has('cmake')],
    ['ninja-build', () => has('ninja')],
    ['g++', () => has('g++') || has('clang++')],
  ],
  test: [
    ['libgtest-dev', () => existsSync('/usr/include/gtest/gtest.h')],
    ['chromium', () => Boolean(process.env.HEARTH_CHROMIUM) || has('chromium') || has('google-chrome')],
    ['fonts-noto-cjk', () => existsSync('/usr/share/fonts/opentype/noto') || process.platform !== 'linux'],
  ],
};

async function systemPackages(kinds) {
  const missing = kinds.flatMap((kind) => PACKAGES[kind].filter(([, there]) => !there()).map(([name]) => name));
  if (missing.length === 0) return;
  const debian = existsSync('/etc/debian_version');
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (debian && process.getuid?.() === 0) {
    await step(`Installing ${missing.join(', ')}`, async () => {
      await run('apt-get', ['update', '-qq']);
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      await run('apt-get', command.split(' ').slice(1), { env });
    });
  } else if (debian) {
    giveUp(`Hearth needs a few system packages. Install them with:\n\n    sudo ${command}\n\nand start again.`);
  } else {
    giveUp(
      `Hearth needs a C++20 compiler, CMake and Ninja (missing here: ${missing.join(', ')}). Install them and start again.`,
    );
  }
}

function npmPackages() {
  const lock = join(root, 'package-lock.json');
  const plan = {
    stamp: join(stamps, 'npm'),
    sources: [lock],
    outputs: [join(root, 'node_modules/vite')],
    content: true,
  };
  return whenStale(plan, () => step('Installing npm packages', () => run('npm', ['ci'], { cwd: root })));
}

function buildId() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return run('git', ['describe', '--always', '--dirty'], { cwd: root })
    .then((commit) => `${version}+${commit.trim()}`)
    .catch(() => version);
}

async function configure(tests) {
  // Once a build folder has the tests it keeps them.
  const withTests = tests || existsSync(join(nativeBuild, 'CTestTestfile.cmake'));
  await run('cmake', [
    ...['-S', join(root, 'native'), '-B', nativeBuild, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release'],
    `-DHEARTH_TESTS=${withTests ? 'ON' : 'OFF'}`,
    `-DHEARTH_ADDON_DIR=${join(root, 'prebuilds', target)}`,
    `-DHEARTH_BUILD_ID=${await buildId()}`,
  ]);
}

/** The engine's addon; with `tests` its test programs too. */
export function nativeEngine({ tests = false } = {}) {
  const plan = {
    stamp: join(stamps, 'native'),
    sources: [join(root, 'native')],
    outputs: [
      join(root, 'prebuilds', target, 'hearth.node'),
      ...(tests ? [join(nativeBuild, 'CTestTestfile.cmake')] : []),
    ],
  };
  const title = tests ? 'Building the engine and its tests' : 'Building the engine (a few minutes the first time)';
  return whenStale(plan, () =>
    step(title, async () => {
      await configure(tests);
      await run('cmake', ['--build', nativeBuild, '--parallel', String(availableParallelism())]);
    }),
  );
}

/** Page, main, runtime, CLI and preload into dist/. */
export function bundles() {
  const plan = {
    stamp: join(stamps, 'bundles'),
    sources: ['electron', 'renderer', 'vite.config.ts', 'vite.node.config.ts', 'package.json'].map((path) =>
      join(root, path),
    ),
    outputs: ['dist/headless.js', 'dist/cli.js', 'dist/renderer/index.html'].map((path) => join(root, path)),
  };
  const vite = (...args) =>
    run(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', ...args], { cwd: root });
  return whenStale(plan, () =>
    step('Building the app', async () => {
      await vite();
      await vite('--config', 'vite.node.config.ts');
      await vite('--config', 'vite.node.config.ts', '--mode', 'preload');
    }),
  );
}

export async function setUp({ tests = false } = {}) {
  try {
    await systemPackages(tests ? ['build', 'test'] : ['build']);
    await npmPackages();
    await nativeEngine({ tests });
    await bundles();
  } catch (error) {
    giveUp(error.message);
  }
}
