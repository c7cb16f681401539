// The built runtime process as the supervisor uses it, for checks and measurements that want the engine without server and page: calls,
// and the events of generations. The messages are those of electron/contract/runtime.ts.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** Starts the process; `load` it before anything else. `execArgv` goes to its Node. */
export async function startRuntime({ execArgv = [] } = {}) {
  const child = fork(join(root, 'dist/runtime.js'), ['runtime'], {
    serialization: 'advanced',
    execArgv,
    stdio: ['ignore', 2, 2, 'ipc'],
    env: { ...process.env, HEARTH_PARENT: String(process.pid) },
  });
  const runtime = new Runtime(child);
  await runtime.ready;
  return runtime;
}

class Runtime {
  calls = new Map();
  listeners = new Map();
  lastCall = 0;
  lastId = 0;

  constructor(child) {
    this.child = child;
    this.pid = child.pid;
    this.ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)));
    void this.ended.then((how) => this.fail(new Error(`the runtime ended (${how})`)));
    this.ready = new Promise((resolve) => {
      child.on('message', (message) => {
        if (message.type === 'ready') resolve();
        if (message.type === 'reply') this.onReply(message);
        if (message.type === 'events') for (const event of message.events) this.listeners.get(event.id)?.(event);
      });
    });
  }

  call(method, params = {}) {
    const call = ++this.lastCall;
    return new Promise((resolve, reject) => {
      this.calls.set(call, { resolve, reject });
      this.child.send({ type: 'call', call, method, params });
    });
  }

  /** Resolves with the `end` event; `onEvent` is told of each event as it comes. Ids are made where none is given. */
  generate({ id = `r${++this.lastId}`, ...request }, onEvent = () => undefined) {
    return new Promise((resolve, reject) => {
      const over = () => this.listeners.delete(id);
      this.listeners.set(id, (event) => {
        onEvent(event);
        if (event.kind !== 'end') return;
        over();
        resolve(event);
      });
      this.call('generate', { id, ...request }).catch((error) => {
        over();
        reject(error);
      });
    });
  }

  async close() {
    await this.call('shutdown');
    await this.ended;
  }

  onReply({ call, result, error }) {
    const { resolve, reject } = this.calls.get(call);
    this.calls.delete(call);
    if (error) reject(Object.assign(new Error(error.message), { code: error.code }));
    else resolve(result);
  }

  fail(error) {
    for (const { reject } of this.calls.values()) reject(error);
    this.calls.clear();
  }
}
