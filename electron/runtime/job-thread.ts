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
    try {
      if (job.signal?.aborted) throw new HearthError('cancelled', 'The request was cancelled.');
      job.resolve(await this.runNow(job));
    } catch (error) {
      job.reject(HearthError.from(error));
    } finally {
      this.busy = false;
      void this.next();
    }
  }

  /** A cancelled job's thread is not waited for: it may be the hostile one. */
  private runNow({ task, signal }: Waiting): Promise<unknown> {
    const worker = this.worker ?? this.begin();
    return new Promise((resolve, reject) => {
      const replace = (error: HearthError) => {
        this.worker = undefined;
        void worker.terminate();
        done();
        reject(error);
      };
      const timer = setTimeout(
        () => replace(new HearthError('invalid_request', this.options.tooLong)),
        this.options.jobMs,
      );
      const onAbort = () => replace(new HearthError('cancelled', 'The request was cancelled.'));
      const onError = (error: unknown) => replace(HearthError.from(error));
      const onExit = () => replace(new HearthError('cancelled', 'The model is being unloaded.'));
      const onReply = (reply: Reply) => {
        done();
        if ('error' in reply) reject(HearthError.from(reply.error));
        else resolve(reply.value);
      };
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        worker.off('error', onError).off('exit', onExit).off('message', onReply);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      worker.on('error', onError).on('exit', onExit).on('message', onReply);
      worker.postMessage(task);
    });
  }
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
