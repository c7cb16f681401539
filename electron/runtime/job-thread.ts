// A thread that does jobs for the main one, and its handle: one job at a time, each with a time limit, after which the thread is
// replaced. So a hostile input never holds up a cancel. It does not know what the jobs are.
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { HearthError, type ErrorShape } from '../contract/errors';

type Reply = { value: unknown } | { error: ErrorShape };

interface Waiting {
  task: unknown;
  signal: AbortSignal | undefined;
  resolve(value: unknown): void;
  reject(error: HearthError): void;
}

export interface JobThreadOptions {
  /** The module that calls `serveJobs` with the same role when it runs in a thread. */
  entry: URL;
  role: string;
  data: unknown;
  jobMs: number;
  /** How long a job may go on that nobody waits for any more. */
  abortedMs: number;
  /** What is said of a job that took longer. */
  tooLong: string;
}

export class JobThread {
  private worker: Worker | undefined;
  private readonly waiting: Waiting[] = [];
  private busy = false;
  private closed = false;

  constructor(private readonly options: JobThreadOptions) {
    this.begin();
  }

  /** Throws HearthError: the job's own, or `invalid_request` after the time limit, or `cancelled`. */
  run(task: unknown, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.closed) {
        reject(new HearthError('cancelled', 'The model is being unloaded.'));
        return;
      }
      // Also while it waits behind another job.
      signal?.addEventListener('abort', () => reject(cancelled()), { once: true });
      this.waiting.push({ task, signal, resolve, reject });
      void this.next();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { reject } of this.waiting.splice(0))
      reject(new HearthError('cancelled', 'The model is being unloaded.'));
    await this.worker?.terminate();
  }

  private begin(): Worker {
    const { entry, role, data } = this.options;
    // In the sources a thread has to register the loader by itself.
    const file = entry.pathname.endsWith('.ts') ? new URL('thread-from-sources.mjs', entry) : entry;
    const worker = new Worker(file, { workerData: { role, data }, resourceLimits: { maxOldGenerationSizeMb: 2048 } });
    worker.unref();
    // Also between jobs: a thread that died is replaced at the next one, and takes nothing with it.
    worker.on('error', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    this.worker = worker;
    return worker;
  }

  private async next(): Promise<void> {
    if (this.busy || this.closed) return;
    const job = this.waiting.shift();
    if (!job) return;
    this.busy = true;
    if (job.signal?.aborted) job.reject(cancelled());
    else await this.runNow(job);
    this.busy = false;
    void this.next();
  }

  /** Settles the job and resolves when the thread is free again, which may be later: an aborted job is given a while to end. */
  private runNow({ task, signal, resolve, reject }: Waiting): Promise<void> {
    const worker = this.worker ?? this.begin();
    return new Promise((free) => {
      const done = () => {
        stopTimer();
        signal?.removeEventListener('abort', onAbort);
        worker.off('error', onError).off('exit', onExit).off('message', onReply);
        free();
      };
      const replace = (error: HearthError) => {
        if (this.worker === worker) this.worker = undefined;
        void worker.terminate();
        reject(error);
        done();
      };
      const onError = (error: unknown) => replace(HearthError.from(error));
      const onExit = () => replace(new HearthError('cancelled', 'The model is being unloaded.'));
      const onReply = (reply: Reply) => {
        if ('error' in reply) reject(HearthError.from(reply.error));
        else resolve(reply.value);
        done();
      };
      // Nobody waits for it any more; the thread is too dear to be thrown away for a job of milliseconds.
      const onAbort = () => {
        reject(cancelled());
        stopTimer();
        stopTimer = afterRunning(this.options.abortedMs, () => replace(cancelled()));
      };
      const { jobMs, tooLong } = this.options;
      let stopTimer = afterRunning(jobMs, () => replace(new HearthError('invalid_request', tooLong)));
      signal?.addEventListener('abort', onAbort, { once: true });
      worker.on('error', onError).on('exit', onExit).on('message', onReply);
      worker.postMessage(task);
    });
  }
}

const TICK_MS = 250;

/** Calls back after so many milliseconds in which this process ran: a machine that slept in between is no slow job. Gives what ends it. */
export function afterRunning(ms: number, call: () => void): () => void {
  const tick = Math.min(ms, TICK_MS);
  let left = ms;
  const timer = setInterval(() => {
    left -= tick;
    if (left > 0) return;
    clearInterval(timer);
    call();
  }, tick);
  return () => clearInterval(timer);
}

function cancelled(): HearthError {
  return new HearthError('cancelled', 'The request was cancelled.');
}

/** Whether this module runs as the thread of that role. Then it serves until it is ended; `make` may throw: every job then does. */
export function serveJobs<Data, Task>(role: string, make: (data: Data) => (task: Task) => unknown): boolean {
  const started = workerData as { role?: string; data: Data } | null;
  if (isMainThread || started?.role !== role || !parentPort) return false;
  const port = parentPort;
  const work = orThrower(() => make(started.data));
  port.on('message', (task: Task) => {
    void answer(() => work(task)).then((reply) => port.postMessage(reply));
  });
  return true;
}

function orThrower<Task>(make: () => (task: Task) => unknown): (task: Task) => unknown {
  try {
    return make();
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

async function answer(job: () => unknown): Promise<Reply> {
  try {
    return { value: await job() };
  } catch (error) {
    return { error: HearthError.from(error).toShape() };
  }
}
