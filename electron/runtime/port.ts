// The runtime's end of the channel to main: Electron's utility process has `parentPort`, a forked one has `process.send`.
// It knows no message's meaning.

export interface HostPort {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** The channel is gone: nobody will read an answer. */
  onClose(listener: () => void): void;
}

/** Electron's, as far as it is used here. */
interface ParentPort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
}

export function hostPort(): HostPort {
  const { parentPort } = process as NodeJS.Process & { parentPort?: ParentPort };
  if (parentPort) {
    return {
      post: (message) => parentPort.postMessage(message),
      onMessage: (listener) => parentPort.on('message', ({ data }) => listener(data)),
      // A utility process is ended with its port; the parent watch covers the rest.
      onClose: () => undefined,
    };
  }
  if (!process.send) throw new Error('The runtime is started by Hearth and not by hand.');
  return {
    post: (message) => {
      // After a disconnect there is nobody to tell.
      if (process.connected) process.send?.(message, undefined, {}, () => undefined);
    },
    onMessage: (listener) => void process.on('message', listener),
    onClose: (listener) => void process.on('disconnect', listener),
  };
}
