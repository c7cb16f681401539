// Entry of the worker thread that owns the database. It answers calls in the order in which they come, and nothing else.
import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorShape } from '../contract/errors';
import { createCalls, type Calls } from './database';
import { storeError } from './errors';
import { closeDatabase, openDatabase } from './migrate';
import type { MoveShare } from './types';
import { relocate, removeOldFile, type Switch, type Told } from './relocate';

export interface CallMessage {
  call: number;
  method: string;
  args: unknown[];
}

export type ReplyMessage =
  | { ready: true }
  | { failed: ErrorShape }
  | { call: number; moved: MoveShare }
  | { call: number; result?: unknown; error?: ErrorShape };

const port = parentPort;
if (!port) throw new Error('The store runs in a worker thread.');
const send = (message: ReplyMessage) => port.postMessage(message);

function answer(calls: Calls, { call, method, args }: CallMessage): void {
  try {
    const work = calls[method as keyof Calls] as (...args: unknown[]) => unknown;
    send({ call, result: work(...args) });
  } catch (error) {
    send({ call, error: storeError(error).toShape() });
  }
}

/** The database that is open, and its calls. */
class Opened {
  private db;
  calls: Calls;

  constructor(private path: string) {
    this.db = openDatabase(path);
    this.calls = createCalls(this.db);
    this.calls.markInterrupted();
  }

  /** Where it fails, the database stays where it was. */
  move(to: string, change: Switch, told: Told): void {
    closeDatabase(this.db);
    try {
      relocate(this.path, to, change, told);
      removeOldFile(this.path);
      this.path = to;
    } finally {
      this.db = openDatabase(this.path);
      this.calls = createCalls(this.db);
    }
  }

  close(): void {
    closeDatabase(this.db);
  }
}

function work(opened: Opened, message: CallMessage): void {
  if (message.method !== 'moveTo') return answer(opened.calls, message);
  const { call } = message;
  try {
    const [to, change] = message.args as [string, Switch];
    opened.move(to, change, (phase, doneBytes) => send({ call, moved: { phase, doneBytes } }));
    send({ call });
  } catch (error) {
    send({ call, error: storeError(error).toShape() });
  }
}

try {
  const opened = new Opened((workerData as { path: string }).path);
  port.on('message', (message: CallMessage) => {
    if (message.method !== 'close') return work(opened, message);
    opened.close();
    send({ call: message.call });
    port.close();
  });
  send({ ready: true });
} catch (error) {
  send({ failed: storeError(error).toShape() });
  port.close();
}
