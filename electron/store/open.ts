// Starts the worker thread of the database and gives its calls as promises. Main's thread never waits for the disk.
import { Worker } from 'node:worker_threads';
import { HearthError, type ErrorShape } from '../contract/errors';
import { entry } from '../entries';
import { AppendBuffer } from './append-buffer';
import type { Calls } from './database';
import { FLUSH_MS, type MoveShare, type OpenStoreOptions, type Store, type StoreCalls } from './types';
import type { ReplyMessage } from './worker';

const METHODS: Record<keyof StoreCalls, true> = {
  settings: true,
  patchSettings: true,
  listChats: true,
  createChat: true,
  getChat: true,
  patchChat: true,
  messages: true,
  trashChat: true,
  restoreChat: true,
  purgeChats: true,
  beginTurn: true,
  finishMessage: true,
  addKey: true,
  listKeys: true,
  removeKey: true,
  checkKey: true,
  addMeasurement: true,
  measurements: true,
  addToMatrix: true,
  matrixCells: true,
  expectedTokens: true,
  setExpectedTokens: true,
  addRemoteEngine: true,
  remoteEngines: true,
  removeRemoteEngine: true,
  libraryMemory: true,
  saveModels: true,
  saveHashes: true,
  forgetModels: true,
  saveUse: true,
  expertUses: true,
  saveExpertUses: true,
  version: true,
};

function startWorker(path: string): Worker {
  const file = entry('store-worker').path;
  return new Worker(file.replace(/\.ts$/, '-from-sources.mjs'), { workerData: { path } });
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  told?: ((share: MoveShare) => void) | undefined;
}

/** Calls over the messages of one worker. */
class Line {
  private next = 0;
  private readonly pending = new Map<number, Pending>();
  private ended: HearthError | undefined;
  readonly ready: Promise<void>;

  constructor(private readonly worker: Worker) {
    this.ready = new Promise((resolve, reject) => {
      worker.on('message', (message: ReplyMessage) => {
        if ('ready' in message) resolve();
        else if ('failed' in message) this.end(HearthError.from(message.failed));
        else if ('moved' in message) this.pending.get(message.call)?.told?.(message.moved);
        else this.settle(message);
      });
      worker.on('error', (error) =>
        this.end(new HearthError('database_error', `The chat database stopped: ${error.message}`)),
      );
      worker.on('exit', () => this.end(new HearthError('database_error', 'The chat database has been closed.')));
      this.onEnd = reject;
    });
  }

  private onEnd: (error: Error) => void = () => undefined;

  private settle({ call, result, error }: { call: number; result?: unknown; error?: ErrorShape }): void {
    const waiting = this.pending.get(call);
    this.pending.delete(call);
    if (error) waiting?.reject(HearthError.from(error));
    else waiting?.resolve(result);
  }

  private end(error: HearthError): void {
    this.ended ??= error;
    this.onEnd(this.ended);
    for (const { reject } of this.pending.values()) reject(this.ended);
    this.pending.clear();
  }

  call(method: keyof Calls | 'close', ...args: unknown[]): Promise<unknown> {
    return this.post(method, args);
  }

  move(args: unknown[], told?: (share: MoveShare) => void): Promise<unknown> {
    return this.post('moveTo', args, told);
  }

  private post(method: string, args: unknown[], told?: (share: MoveShare) => void): Promise<unknown> {
    if (this.ended) return Promise.reject(this.ended);
    const call = this.next++;
    return new Promise((resolve, reject) => {
      this.pending.set(call, { resolve, reject, told });
      this.worker.postMessage({ call, method, args });
    });
  }

  async close(): Promise<void> {
    if (this.ended) return;
    const exit = new Promise((resolve) => this.worker.once('exit', resolve));
    await this.call('close').catch(() => undefined);
    await exit;
  }
}

/** Throws `database_error`. Answers that a killed process was writing are marked as interrupted. */
export async function openStore({ path, flushMs = FLUSH_MS }: OpenStoreOptions): Promise<Store> {
  const line = new Line(startWorker(path));
  await line.ready;
  // A failed write shows itself in the next awaited call; a delta has nobody to tell.
  const buffer = new AppendBuffer(flushMs, (id, delta) => void line.call('append', id, delta).catch(() => undefined));
  const calls = Object.fromEntries(
    Object.keys(METHODS).map((method) => [
      method,
      (...args: unknown[]) => {
        // Calls are answered in order, so that whoever reads or finishes a message meets what was appended before.
        buffer.flush();
        return line.call(method as keyof Calls, ...args);
      },
    ]),
  ) as unknown as Omit<Store, 'append' | 'close' | 'moveTo'>;
  return {
    ...calls,
    append: (id, delta) => buffer.add(id, delta),
    moveTo: async (to, change, told) => {
      buffer.flush();
      await line.move([to, change], told);
    },
    close: async () => {
      buffer.flush();
      await line.close();
    },
  };
}
