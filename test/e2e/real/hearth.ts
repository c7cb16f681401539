// A real Hearth in a process of its own, on a data folder of the test's, and the models that lie in it: the one that ships, changed a little.
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = resolve(import.meta.dirname, '../../..');
export const STARTER = join(root, 'resources/starter/starter.gguf');
const PROGRAM = join(root, 'dist/headless.js');
const ADDON = join(root, 'prebuilds', `${process.platform}-${process.arch}`, 'hearth.node');

/** Why there is no real Hearth to test; undefined where there is one. */
export const missing = [STARTER, PROGRAM, ADDON, join(root, 'dist/renderer/index.html')].find(
  (path) => !existsSync(path),
);

export interface RealHearth {
  url: string;
  token: string;
  /** With the key in it. */
  entry: string;
  /** As the system kills it: nothing is put in order first. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export const folder = (): string => mkdtempSync(join(tmpdir(), 'hearth-e2e-'));
export const forget = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 5 });

/** The model that ships under another name, with content of its own. */
export function twin(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(STARTER, path);
  appendFileSync(path, path);
  return path;
}

export const twinBytes = (name: string): Buffer => Buffer.concat([readFileSync(STARTER), Buffer.from(name)]);

export async function startHearth(
  dataDir: string,
  env: Record<string, string> = {},
  ...more: string[]
): Promise<RealHearth> {
  const child = spawn(process.execPath, [PROGRAM, '--json', '--port', '0', '--data-dir', dataDir, ...more], {
    // Folders of whoever runs the tests are none of theirs.
    env: { ...process.env, HOME: join(dataDir, 'home'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, token } = await saidBy(child);
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { url, token, entry: `${url}/#token=${token}`, kill: () => end('SIGKILL'), close: () => end('SIGTERM') };
}

async function saidBy(child: ChildProcess): Promise<{ url: string; token: string }> {
  if (!child.stdout) throw new Error('Hearth says nothing.');
  for await (const line of createInterface(child.stdout)) return JSON.parse(line) as { url: string; token: string };
  throw new Error('Hearth ended before it said where it is.');
}
