// Entry of the worker thread that owns the database. It answers calls in the order in which they come, and nothing else.
import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorShape } from '../contract/errors';
import { createCalls, type Calls } from './database';
import { storeError } from './errors';
import { closeDatabase, openDatabase } from './migrate';

export interface CallMessage {
  call: number;
  method: string;
  args: unknown[];
}

export type ReplyMessage =
  { ready: true } | { failed: ErrorShape } | { call: number; result?: unknown; error?: ErrorShape };

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

try {
  const db = openDatabase((workerData as { path: string }).path);
  const calls = createCalls(db);
  port.on('message', (message: CallMessage) => {
    if (message.method !== 'close') return answer(calls, message);
    closeDatabase(db);
    send({ call: message.call });
    port.close();
  });
  send({ ready: true });
} catch (error) {
  send({ failed: storeError(error).toShape() });
  port.close();
}
