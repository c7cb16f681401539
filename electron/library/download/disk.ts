// Starts the worker thread of the part files, with the first call, and gives its calls as promises.
import { Worker } from 'node:worker_threads';
import { HearthError } from '../../contract/errors';
import { entry } from '../../entries';
import type { DiskCall, DiskCalls, DiskReply, DiskStop } from './worker';

/** For work that takes long. */
export interface LongWork {
  told(fraction: number): void;
  /** Ends it soon; the call is rejected then. */
  signal: AbortSignal;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  told: LongWork['told'] | undefined;
}

export interface Disk {
  /** Throws what the disk says: HearthError{disk_full | disk_error | internal}. */
  call<M extends keyof DiskCalls>(
    method: M,
    args: Parameters<DiskCalls[M]>,
    long?: LongWork,
  ): Promise<ReturnType<DiskCalls[M]>>;
  close(): Promise<void>;
}

function startWorker(): Worker {
  const file = entry('download-worker').path;
  return new Worker(file.replace(/\.ts$/, '-from-sources.mjs'));
}

class WorkerDisk implements Disk {
  private worker: Worker | undefined;
  private next = 0;
  private readonly waiting = new Map<number, Waiting>();

  private started(): Worker {
    if (this.worker) return this.worker;
    const worker = startWorker();
    worker.on('message', (reply: DiskReply) => this.settle(reply));
    worker.on('error', (error) => this.ended(error.message));
    worker.on('exit', () => this.ended('its thread has ended'));
    return (this.worker = worker);
  }

  private settle(reply: DiskReply): void {
    const waiting = this.waiting.get(reply.call);
    if ('fraction' in reply) return waiting?.told?.(reply.fraction);
    this.waiting.delete(reply.call);
    if (reply.error) waiting?.reject(HearthError.from(reply.error));
    else waiting?.resolve(reply.result);
  }

  private ended(why: string): void {
    this.worker = undefined;
    for (const { reject } of this.waiting.values()) reject(new HearthError('internal', `Downloads stopped: ${why}.`));
    this.waiting.clear();
  }

  call<M extends keyof DiskCalls>(method: M, args: Parameters<DiskCalls[M]>, long?: LongWork) {
    const call = this.next++;
    // Blocks are handed over, not copied: nobody here needs them any more.
    const moved = args.filter((value): value is Uint8Array => value instanceof Uint8Array);
    return new Promise<ReturnType<DiskCalls[M]>>((resolve, reject) => {
      this.waiting.set(call, { resolve: resolve as (value: unknown) => void, reject, told: long?.told });
      const message: DiskCall = { call, method, args };
      this.started().postMessage(
        message,
        moved.map(({ buffer }) => buffer as ArrayBuffer),
      );
      if (long) this.stopWith(long.signal, call);
    });
  }

  private stopWith(signal: AbortSignal, call: number): void {
    const stop = () => {
      const message: DiskStop = { stop: call };
      if (this.waiting.has(call)) this.worker?.postMessage(message);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  }

  async close(): Promise<void> {
    const { worker } = this;
    if (!worker) return;
    const exit = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage('end');
    await exit;
  }
}

export function openDisk(): Disk {
  return new WorkerDisk();
}
