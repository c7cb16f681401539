// The thread that makes prompts: rendering and tokenizing, away from the thread that hears cancels.
import type { NativeTokenizerData } from './addon';
import { JobThread, serveJobs } from './job-thread';
import { PromptMaker, type Prompt, type PromptJob } from './prompt-maker';
import { createTokenizer } from './tokenizer';
import { tokenizerSource } from './tokenizer-source';

const ROLE = 'prompts';
const JOB_MS = 20_000;
const ABORTED_MS = 1_000;

type Task = { kind: 'prompt'; job: PromptJob } | { kind: 'tokenize'; text: string };

export class PromptThread {
  private readonly thread: JobThread;

  /** `entry`: the module that calls `servePrompts()` when it runs in a thread. */
  constructor(entry: URL, data: NativeTokenizerData, jobMs = JOB_MS) {
    const tooLong = 'Preparing the prompt took too long; it was given up.';
    this.thread = new JobThread({ entry, role: ROLE, data, jobMs, abortedMs: ABORTED_MS, tooLong });
  }

  make(job: PromptJob, signal?: AbortSignal): Promise<Prompt> {
    return this.run({ kind: 'prompt', job }, signal);
  }

  async tokenize(text: string): Promise<number[]> {
    return Array.from((await this.run({ kind: 'tokenize', text })).tokens);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  private run(task: Task, signal?: AbortSignal): Promise<Prompt> {
    return this.thread.run(task, signal) as Promise<Prompt>;
  }
}

export function servePrompts(): boolean {
  return serveJobs<NativeTokenizerData, Task>(ROLE, (data) => {
    const maker = new PromptMaker(createTokenizer(tokenizerSource(data)));
    return (task): Prompt => {
      if (task.kind === 'tokenize') return { tokens: maker.tokenize(task.text), droppedTurns: 0 };
      const prompt = maker.make(task.job);
      return { ...prompt, tokens: Int32Array.from(prompt.tokens) };
    };
  });
}
