// Main's side of the thread that reads whole files: jobs as promises. The thread starts with the first job and ends when it has been idle
// for a while.
import { Worker } from 'node:worker_threads';
import { HearthError } from '../contract/errors';
import { entry } from '../entries';
import type { FileJob, FromWorker, ToWorker } from './file-worker';

const IDLE_MS = 10_000;

export interface FileProgress {
  copied: number;
  verified: number;
}

interface Waiting {
  resolve(sha256: string): void;
  reject(error: HearthError): void;
  onProgress?(progress: FileProgress): void;
}

export interface JobOptions {
  onProgress?(progress: FileProgress): void;
  signal?: AbortSignal;
}

export class FileThread {
  private worker: Worker | undefined;
  private next = 0;
  private paused = false;
  private readonly waiting = new Map<number, Waiting>();
  private idle: NodeJS.Timeout | undefined;

  /** SHA-256 of a file's content. Throws HearthError{disk_error | cancelled}. */
  hash(path: string, options: JobOptions = {}): Promise<string> {
    return this.run({ kind: 'hash', path }, options);
  }

  /** A verified copy; gives its SHA-256. Throws HearthError{disk_full | disk_error | cancelled}. */
  copy(from: string, to: string, options: JobOptions = {}): Promise<string> {
    return this.run({ kind: 'copy', from, to }, options);
  }

  pause(paused: boolean): void {
    if (paused === this.paused) return;
    this.paused = paused;
    this.post({ pause: paused });
  }

  async close(): Promise<void> {
    clearTimeout(this.idle);
    const worker = this.worker;
    this.worker = undefined;
    this.endAll(new HearthError('cancelled', 'Hearth is closing.'));
    await worker?.terminate();
  }

  private run(work: FileJob, { onProgress, signal }: JobOptions): Promise<string> {
    if (signal?.aborted) return Promise.reject(new HearthError('cancelled', 'This was given up.'));
    clearTimeout(this.idle);
    this.worker ??= this.begin();
    const job = this.next++;
    signal?.addEventListener('abort', () => this.post({ cancel: job }), { once: true });
    return new Promise((resolve, reject) => {
      this.waiting.set(job, { resolve, reject, ...(onProgress && { onProgress }) });
      this.post({ job, work });
    });
  }

  private post(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  private begin(): Worker {
    const worker = new Worker(entry('file-worker').path.replace(/\.ts$/, '-from-sources.mjs'));
    worker.unref();
    worker.on('message', (message: FromWorker) => this.receive(message));
    worker.on('error', (error) => this.died(worker, HearthError.from(error)));
    worker.on('exit', () => this.died(worker, new HearthError('cancelled', 'The reader of files has ended.')));
    if (this.paused) worker.postMessage({ pause: true } satisfies ToWorker);
    return worker;
  }

  private receive(message: FromWorker): void {
    const waiting = this.waiting.get(message.job);
    if ('copied' in message) return waiting?.onProgress?.(message);
    this.waiting.delete(message.job);
    if ('sha256' in message) waiting?.resolve(message.sha256);
    else waiting?.reject(HearthError.from(message.error));
    if (this.waiting.size > 0) return;
    this.idle = setTimeout(() => void this.close(), IDLE_MS);
    this.idle.unref();
  }

  private died(worker: Worker, error: HearthError): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    this.endAll(error);
  }

  private endAll(error: HearthError): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
