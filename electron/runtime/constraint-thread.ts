// The thread that keeps constraints: schemas are compiled there and masks computed, away from the thread that hears cancels.
// A run is told every token in order and asked what may come next.
import type { ChatInput } from '../contract/chat';
import { HearthError } from '../contract/errors';
import type { NativeTokenizerData } from './addon';
import type { Constraint, ConstraintMaker, ConstraintPlan, Output } from './constraints';
import { harmonyTokens } from './harmony';
import { JobThread, serveJobs } from './job-thread';
import { createTokenizer, type Tokenizer } from './tokenizer';
import { tokenizerSource } from './tokenizer-source';

const ROLE = 'constraints';
const JOB_MS = 15_000;

/** In the sequence of tokens: here the thoughts were ended by us. */
export const END_THOUGHTS = -1;

/** What may come next: tokens that must, a mask, or (neither) anything. */
export interface NextTokens {
  forced?: number[];
  mask?: Uint32Array;
}

interface ThreadData {
  tokenizer: NativeTokenizerData;
  /** Width of the logits. */
  vocabulary: number;
}

type Task =
  | { kind: 'begin'; run: number; chat: ChatInput; thinking: boolean }
  | { kind: 'next'; run: number; tokens: number[] }
  | { kind: 'check'; run: number; output: Output }
  | { kind: 'end'; run: number };

export interface ConstraintRun {
  /** See PlainParserOptions.wholeCall. */
  wholeCall: boolean;
  /** `tokens`: those since the last call, END_THOUGHTS among them. */
  next(tokens: number[]): Promise<NextTokens>;
  /** Ends it; gives what is wrong with the finished output, or null. */
  check(output: Output): Promise<string | null>;
  end(): void;
}

/** Whether a chat asks for something that must be enforced. */
export function needsConstraint({ toolChoice, responseFormat }: ChatInput): boolean {
  return (toolChoice !== 'none' && toolChoice !== 'auto') || responseFormat.type !== 'text';
}

export class ConstraintThread {
  /** Started with the first request that needs it. */
  private thread: JobThread | undefined;
  private runs = 0;

  constructor(
    private readonly entry: URL,
    private readonly data: ThreadData,
  ) {}

  /** Throws HearthError{unsupported_schema | invalid_request}. */
  async begin(chat: ChatInput, thinking: boolean, signal: AbortSignal): Promise<ConstraintRun> {
    const thread = this.start();
    const run = ++this.runs;
    const end = () => void thread.run({ kind: 'end', run }).catch(() => undefined);
    try {
      const begun = await thread.run({ kind: 'begin', run, chat, thinking }, signal);
      const { wholeCall } = begun as { wholeCall: boolean };
      return {
        wholeCall,
        next: (tokens) => thread.run({ kind: 'next', run, tokens }) as Promise<NextTokens>,
        check: (output) => thread.run({ kind: 'check', run, output }) as Promise<string | null>,
        end,
      };
    } catch (error) {
      end(); // an aborted one is still begun
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.thread?.close();
  }

  private start(): JobThread {
    const tooLong = 'Enforcing the schema took too long; it was given up.';
    const { entry, data } = this;
    // Never replaced because of an abort: others' constraints live there.
    this.thread ??= new JobThread({ entry, role: ROLE, data, jobMs: JOB_MS, abortedMs: JOB_MS, tooLong });
    return this.thread;
  }
}

/** One constraint with what is being forced and has not come yet. */
class Run {
  private forcing: number[] = [];

  constructor(
    private readonly constraint: Constraint,
    private readonly plan: ConstraintPlan,
  ) {}

  check(output: Output): string | null {
    return this.plan.check(output);
  }

  next(tokens: readonly number[]): NextTokens {
    for (const token of tokens) this.take(token);
    if (this.forcing.length > 0) return { forced: [...this.forcing] };
    const forced = this.constraint.force();
    if (forced.length > 0) return { forced };
    const mask = this.constraint.mask();
    return mask ? { mask: mask.slice() } : {};
  }

  end(): void {
    this.constraint.dispose();
  }

  private take(token: number): void {
    if (token === END_THOUGHTS) {
      this.forcing = this.constraint.endThoughts();
      return;
    }
    this.constraint.accept(token);
    if (this.forcing[0] === token) this.forcing.shift();
    else this.forcing = [];
  }
}

export function serveConstraints(): boolean {
  return serveJobs<ThreadData, Task>(ROLE, ({ tokenizer: data, vocabulary }) => {
    const tokenizer = createTokenizer(tokenizerSource(data));
    const maker = makerOf(tokenizer, vocabulary);
    const runs = new Map<number, Run>();
    return async (task) => {
      if (task.kind === 'begin') {
        const plan = await (await maker).plan(task.chat);
        return beginRun(runs, task.run, plan, task.thinking);
      }
      const run = runs.get(task.run);
      if (!run && task.kind !== 'end') throw new HearthError('internal', 'The state of the constraint was lost.');
      if (task.kind === 'next') return run?.next(task.tokens);
      runs.delete(task.run);
      run?.end();
      return task.kind === 'check' ? run?.check(task.output) : {};
    };
  });
}

/** Imported here alone: what checks schemas is large, and the process's other threads start from the same entry. */
async function makerOf(tokenizer: Tokenizer, vocabulary: number): Promise<ConstraintMaker> {
  const { ConstraintMaker } = await import('./constraints');
  return new ConstraintMaker(tokenizer, vocabulary, harmonyTokens(tokenizer));
}

function beginRun(runs: Map<number, Run>, id: number, plan: ConstraintPlan | null, thinking: boolean) {
  if (!plan) throw new HearthError('internal', 'There is nothing to enforce.');
  runs.set(id, new Run(plan.begin({ thinking }), plan));
  return { wholeCall: plan.wholeCall };
}
