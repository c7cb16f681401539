// The real app without a window, in a data directory of its own, for tests: the built headless entry on a free port.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './setup.mjs';

/** Starts it and waits for its address. `env` has what the end-to-end tests read. A data directory that is given outlives the app. */
export async function realApp(args = [], kept = undefined) {
  const data = kept ?? mkdtempSync(join(tmpdir(), 'hearth-data-'));
  const child = spawn(
    process.execPath,
    [join(root, 'dist/headless.js'), '--json', '--data-dir', data, '--port', '0', ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = new Promise((resolve) => child.once('close', resolve));
  const first = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve)),
    ended.then((code) => Promise.reject(new Error(`the app ended with ${code} before it gave its address`))),
  ]);
  const { url, token, pid } = JSON.parse(first);
  return {
    url,
    token,
    pid,
    data,
    /** Resolves when the process is gone, however. */
    ended,
    env: { HEARTH_E2E_URL: url, HEARTH_E2E_TOKEN: token },
    async close() {
      child.kill('SIGTERM');
      await ended;
      if (!kept) rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The app with its first model loaded, and that model's name. */
export async function readyApp(args = [], kept = undefined) {
  const app = await realApp(args, kept);
  let failure = 'no model was loaded within a minute';
  for (let i = 0; i < 600; i++) {
    const response = await fetch(`${app.url}/hearth/v1/state`, { headers: { authorization: `Bearer ${app.token}` } });
    const { active } = await response.json();
    if (active?.state === 'ready') return { ...app, model: active.name };
    if (active?.state === 'failed') {
      failure = active.error.message;
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await app.close();
  throw new Error(failure);
}
