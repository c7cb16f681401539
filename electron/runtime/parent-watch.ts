// Ends this process when its parent is gone, even while the main thread is inside a native call: a thread of its own looks.
// It asks nobody and cleans nothing up; the system takes the memory back.
import { Worker } from 'node:worker_threads';
import { ENVIRONMENT } from '../contract/runtime';

const LOOK_MS = 500;

/**
 * Plain JavaScript as text, so that the thread needs no file and no loader. On Unix an orphan gets another parent id; on Windows
 * the id stays and the signal 0 tells. `main` is main's own id where a helper process stands between (Electron on Linux).
 */
const WATCH = `
  const { workerData } = require('node:worker_threads');
  const gone = (pid) => {
    try { process.kill(pid, 0); return false; } catch (error) { return error.code === 'ESRCH'; }
  };
  setInterval(() => {
    const orphan = process.ppid !== workerData.parent || gone(workerData.parent) || (workerData.main > 0 && gone(workerData.main));
    if (orphan) process.kill(process.pid, 'SIGKILL');
  }, workerData.lookMs);
`;

export function watchParent(lookMs = LOOK_MS): void {
  const main = Number(process.env[ENVIRONMENT.parent] ?? 0);
  const worker = new Worker(WATCH, {
    eval: true,
    execArgv: [],
    workerData: { parent: process.ppid, main: Number.isSafeInteger(main) ? main : 0, lookMs },
  });
  worker.unref();
}
