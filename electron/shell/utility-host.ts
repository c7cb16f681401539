// Children of the app as Electron's utility processes: the same messages as a forked Node process, started by Electron's own means
// (the `runAsNode` fuse is off, so fork cannot work in the packaged app).
import type { AppOptions } from '../app';
import type { Electron } from './types';

type SpawnHost = NonNullable<AppOptions['spawn']>;

export function utilityHosts(
  electron: Pick<Electron, 'utilityProcess'>,
  entryPath: string,
  env: Record<string, string>,
): SpawnHost {
  return (kind) => {
    const child = electron.utilityProcess.fork(entryPath, [kind], {
      serviceName: `Hearth ${kind}`,
      stdio: 'inherit',
      env: { ...(process.env as Record<string, string>), ...env },
    });
    let gone = false;
    return {
      get pid() {
        return child.pid;
      },
      postMessage: (message) => {
        if (!gone) child.postMessage(message);
      },
      onMessage: (listener) => void child.on('message', listener),
      onExit: (listener) =>
        void child.once('exit', (code) => {
          gone = true;
          listener({ code, signal: null });
        }),
      kill: () => {
        // Electron's kill() is a polite SIGTERM; a child stuck in a driver call needs the hard one.
        if (!gone && child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
      },
    };
  };
}
