// Child processes of the set-up: run to the end, keep the output quiet unless it fails.
import { spawn, spawnSync } from 'node:child_process';

const shell = process.platform === 'win32';

/** Runs a command; its output is shown only when it fails. Throws with the last lines. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { shell, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const text = Buffer.concat(output).toString();
      if (code === 0) return resolve(text);
      const tail = text.split('\n').slice(-60).join('\n');
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}\n${tail}`));
    });
  });
}

/** Runs a command with its output passed through; resolves with the exit code. */
export function show(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { shell, stdio: ['ignore', 'inherit', 'inherit'], ...options });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

export function has(command) {
  const finder = process.platform === 'win32' ? 'where' : 'which';
  return spawnSync(finder, [command], { stdio: 'ignore' }).status === 0;
}
