// A child process as the supervisor sees it: something that takes and gives messages and ends. It knows no message's meaning.
// Node forks it; Electron's utilityProcess is handed in by the shell as another `SpawnHost`.
import { fork } from 'node:child_process';
import { ENVIRONMENT } from '../contract/runtime';
import type { Entry } from '../entries';

export interface HostExit {
  code: number | null;
  signal: string | null;
}

export interface HostHandle {
  readonly pid: number | undefined;
  /** Never throws: a message to a dead child is lost, and its exit tells. */
  postMessage(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Called once, also when the child could not be started. */
  onExit(listener: (exit: HostExit) => void): void;
  /** Hard and at once. */
  kill(): void;
}

export type HostKind = 'runtime' | 'probe';
export type SpawnHost = (kind: HostKind) => HostHandle;

/** Children by `child_process.fork`. Their output goes to our standard error: standard output belongs to the command. */
export function forkHosts(entry: Entry, env: Record<string, string> = {}): SpawnHost {
  return (kind) => {
    const child = fork(entry.path, [kind], {
      serialization: 'advanced',
      execArgv: entry.execArgv,
      stdio: ['ignore', 2, 2, 'ipc'],
      env: { ...process.env, ...env, [ENVIRONMENT.parent]: String(process.pid) },
    });
    return {
      pid: child.pid,
      postMessage: (message) => {
        if (child.connected) child.send(message as object, () => undefined);
      },
      onMessage: (listener) => void child.on('message', listener),
      onExit: (listener) => {
        let told = false;
        const tell = (exit: HostExit) => {
          if (!told) listener(exit);
          told = true;
        };
        child.on('exit', (code, signal) => tell({ code, signal }));
        child.on('error', () => {
          if (child.pid === undefined) tell({ code: null, signal: null });
        });
      },
      kill: () => void child.kill('SIGKILL'),
    };
  };
}
