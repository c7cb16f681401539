// The thread that makes prompts, and its handle: one job at a time, each with a time limit, after which the thread is replaced.
// So a hostile text or template never holds up a cancel, and costs at most its own request.
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { HearthError, type ErrorShape } from '../contract/errors';
import type { NativeTokenizerData } from './addon';
import { PromptMaker, type Prompt, type PromptJob } from './prompt-maker';
import { createTokenizer } from './tokenizer';
import { tokenizerSource } from './tokenizer-source';

const ROLE = 'prompts';
const JOB_MS = 20_000;

type Task = { kind: 'prompt'; job: PromptJob } | { kind: 'tokenize'; text: string };
type Reply = { prompt: Prompt } | { error: ErrorShape };

interface Waiting {
  task: Task;
  signal: AbortSignal | undefined;
  resolve(prompt: Prompt): void;
  reject(error: HearthError): void;
}

export class PromptThread {
  private worker: Worker | undefined;
  private readonly waiting: Waiting[] = [];
  private busy = false;
  private closed = false;

  /** `entry`: the module that calls `servePrompts()` when it runs in a thread. */
  constructor(
    private readonly entry: URL,
    private readonly data: NativeTokenizerData,
    private readonly jobMs = JOB_MS,
  ) {
    this.begin();
  }

  make(job: PromptJob, signal?: AbortSignal): Promise<Prompt> {
    return this.add({ kind: 'prompt', job }, signal);
  }

  async tokenize(text: string): Promise<number[]> {
    return Array.from((await this.add({ kind: 'tokenize', text })).tokens);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { reject } of this.waiting.splice(0))
      reject(new HearthError('cancelled', 'The model is being unloaded.'));
    await this.worker?.terminate();
  }

  private begin(): Worker {
    const worker = startThread(this.entry, { role: ROLE, data: this.data });
    worker.unref();
    // Also between jobs: a thread that died is replaced at the next one, and takes nothing with it.
    worker.on('error', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    this.worker = worker;
    return worker;
  }

  private add(task: Task, signal?: AbortSignal): Promise<Prompt> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ task, signal, resolve, reject });
      void this.next();
    });
  }

  private async next(): Promise<void> {
    if (this.busy || this.closed) return;
    const job = this.waiting.shift();
    if (!job) return;
    this.busy = true;
    try {
      if (job.signal?.aborted) throw new HearthError('cancelled', 'The request was cancelled.');
      job.resolve(await this.run(job));
    } catch (error) {
      job.reject(HearthError.from(error));
    } finally {
      this.busy = false;
      void this.next();
    }
  }

  /** A cancelled job's thread is not waited for: it may be the hostile one. */
  private run({ task, signal }: Waiting): Promise<Prompt> {
    const worker = this.worker ?? this.begin();
    return new Promise<Prompt>((resolve, reject) => {
      const replace = (error: HearthError) => {
        this.worker = undefined;
        void worker.terminate();
        done();
        reject(error);
      };
      const timer = setTimeout(() => replace(tooLong()), this.jobMs);
      const onAbort = () => replace(new HearthError('cancelled', 'The request was cancelled.'));
      const onError = (error: unknown) => replace(HearthError.from(error));
      const onReply = (reply: Reply) => {
        done();
        if ('error' in reply) reject(HearthError.from(reply.error));
        else resolve(reply.prompt);
      };
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        worker.off('error', onError);
        worker.off('message', onReply);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      worker.on('error', onError);
      worker.on('message', onReply);
      worker.postMessage(task);
    });
  }
}

/** In the sources a thread has to register the loader by itself. */
function startThread(entry: URL, workerData: object): Worker {
  const file = entry.pathname.endsWith('.ts') ? new URL('thread-from-sources.mjs', entry) : entry;
  return new Worker(file, { workerData, resourceLimits: { maxOldGenerationSizeMb: 2048 } });
}

function tooLong(): HearthError {
  return new HearthError('invalid_request', 'Preparing the prompt took too long; it was given up.');
}

/** Whether this module runs as the thread. Then it serves prompts until it is ended. */
export function servePrompts(): boolean {
  const started = workerData as { role?: string; data: NativeTokenizerData } | null;
  if (isMainThread || started?.role !== ROLE || !parentPort) return false;
  const port = parentPort;
  let maker: PromptMaker | undefined;
  let failure: HearthError | undefined;
  try {
    maker = new PromptMaker(createTokenizer(tokenizerSource(started.data)));
  } catch (error) {
    failure = HearthError.from(error);
  }
  port.on('message', (task: Task) => port.postMessage(answer(task, maker, failure)));
  return true;
}

function answer(task: Task, maker: PromptMaker | undefined, failure: HearthError | undefined): Reply {
  try {
    if (!maker) throw failure ?? new HearthError('internal', 'There is no tokenizer.');
    if (task.kind === 'tokenize') return { prompt: { tokens: maker.tokenize(task.text), droppedTurns: 0 } };
    const prompt = maker.make(task.job);
    return { prompt: { ...prompt, tokens: Int32Array.from(prompt.tokens) } };
  } catch (error) {
    return { error: HearthError.from(error).toShape() };
  }
}
