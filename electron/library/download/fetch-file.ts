// Fetches the missing blocks of one file: several connections, each at a run of blocks, tried again as attempts.ts allows. It counts as
// stored only what the disk has confirmed; what a connection holds of an unfinished block is kept for the next one.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { HearthError } from '../../contract/errors';
import { isAway } from '../network';
import { Attempts, type Failure } from './attempts';
import { Pace } from './pace';
import type { Plan, Run } from './plan';
import { BrokenAnswer, BusyAnswer, type FileSource, type SourceAnswer } from './types';

export interface FetchTimes {
  /** Without a byte for so long, the connection is given up. */
  stallMs: number;
  /** Of the waits between attempts: 1 in earnest. */
  waitScale: number;
}

export const FETCH_TIMES: FetchTimes = { stallMs: 20_000, waitScale: 1 };

export interface FetchJob {
  plan: Plan;
  source: FileSource;
  /** Resolves when the block is stored. */
  store(index: number, bytes: Uint8Array): Promise<void>;
  signal: AbortSignal;
  /** Bytes came from the network. */
  received(bytes: number): void;
  /** Whether all connections wait for another try. */
  reconnecting(waits: boolean): void;
  times?: FetchTimes;
}

interface Block {
  bytes: Uint8Array<ArrayBuffer>;
  filled: number;
}

/** Writes under way for each connection, so that the network does not wait for the disk, nor run far ahead of it. */
const WRITES_AHEAD = 2;

class Fetch {
  private readonly attempts: Attempts;
  private readonly times: FetchTimes;
  private readonly unfinished = new Map<number, Block>();
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private connections = 0;
  private waiting = 0;
  private readonly pace = new Pace();
  /** The source gives everything from the beginning, or more than it was asked for: one connection reads it. */
  private alone = false;
  private tellAnswered: () => void = () => undefined;
  /** The first answer has come, or will not: whether there is work for others is known. */
  private readonly answered = new Promise<void>((resolve) => (this.tellAnswered = resolve));

  constructor(private readonly job: FetchJob) {
    this.times = job.times ?? FETCH_TIMES;
    this.attempts = new Attempts(this.times.waitScale);
    this.signal = AbortSignal.any([job.signal, this.stop.signal]);
    // Each connection listens a few times; that is no leak.
    setMaxListeners(0, this.signal);
  }

  async run(): Promise<void> {
    const several = this.job.plan.connections() > 1;
    const first = this.connection(true, several).finally(this.tellAnswered);
    const others = Array.from({ length: this.job.plan.connections() - 1 }, async () => {
      await this.answered;
      return this.connection(false, several);
    });
    const all = [first, ...others];
    // The first failure ends the others; all have ended before it is told.
    for (const one of all) one.catch((error: unknown) => this.stop.abort(error));
    const [failed] = (await Promise.allSettled(all)).filter((result) => result.status === 'rejected');
    this.job.signal.throwIfAborted();
    if (failed) throw this.stop.signal.aborted ? this.stop.signal.reason : failed.reason;
  }

  private async connection(first: boolean, several: boolean): Promise<void> {
    this.connections += 1;
    try {
      // Where nothing is free, others may fail and give theirs back: the first connection stays to the end.
      while (!this.job.plan.complete) {
        this.signal.throwIfAborted();
        if (this.alone && !first) return;
        const run = this.job.plan.take(several && !this.alone ? this.pace.answerBytes : undefined);
        if (run) await this.tried(run, first);
        else if (first) await sleep(20, undefined, { signal: this.signal });
        else return;
      }
    } finally {
      this.connections -= 1;
    }
  }

  private async tried(run: Run, first: boolean): Promise<void> {
    const { round } = this.attempts;
    try {
      await this.fetched(run, first);
    } catch (error) {
      this.signal.throwIfAborted();
      const wait = this.attempts.failed(failureOf(error), round);
      if (wait === undefined) throw told(error);
      this.job.plan.release(run);
      await this.pause(wait);
    } finally {
      this.job.plan.release(run);
    }
  }

  private async pause(ms: number): Promise<void> {
    this.waiting += 1;
    this.job.reconnecting(this.waiting >= this.connections);
    try {
      await sleep(ms, undefined, { signal: this.signal });
    } finally {
      this.waiting -= 1;
    }
  }

  private async fetched(run: Run, first: boolean): Promise<void> {
    const { plan, source } = this.job;
    const start = plan.start(run.next) + (this.unfinished.get(run.next)?.filled ?? 0);
    const end = Math.min(plan.size, plan.start(run.end));
    const asked = performance.now();
    const answer = await source.open(start, end, this.signal);
    const came = performance.now();
    if (answer.sequential || answer.until > end) this.alone = true;
    this.tellAnswered();
    if (answer.sequential && !first) return answer.end();
    const writes = new Writes((index, bytes) => this.stored(index, bytes, run));
    try {
      await this.consumed(answer, start, run, writes);
    } finally {
      answer.end();
      await writes.all();
    }
    this.pace.went({ headMs: came - asked, bodyMs: performance.now() - came, bytes: end - start });
  }

  /** Reads until the run is complete; on, where the answer goes on and the next block is wanted. An answer that ends is read to its end. */
  private async consumed(answer: SourceAnswer, start: number, run: Run, writes: Writes): Promise<void> {
    const { plan } = this.job;
    let at = start;
    for await (const piece of this.watched(answer.bytes)) {
      for (let rest = piece; rest.length > 0 && at < plan.size;) {
        const index = Math.floor(at / plan.blockBytes);
        const wanted = this.wants(index, run, answer.sequential);
        if (!wanted && !answer.sequential) return;
        const take = Math.min(rest.length, plan.start(index) + plan.length(index) - at);
        if (wanted) await this.fill(index, at - plan.start(index), rest.subarray(0, take), writes);
        at += take;
        rest = rest.subarray(take);
      }
      const ended = at >= Math.min(plan.size, plan.start(run.end));
      if (ended && at < answer.until && !answer.sequential && !plan.isFree(run.end)) return;
    }
    if (at < Math.min(plan.size, plan.start(run.end))) throw new BrokenAnswer('the answer ended too early');
  }

  private wants(index: number, run: Run, sequential: boolean): boolean {
    const { plan } = this.job;
    if (plan.has(index)) return false;
    if (index < run.end) return index >= run.next;
    return sequential ? plan.isFree(index) : plan.extend(run);
  }

  private async fill(index: number, offset: number, bytes: Uint8Array, writes: Writes): Promise<void> {
    const { plan } = this.job;
    const block = this.unfinished.get(index) ?? { bytes: new Uint8Array(plan.length(index)), filled: 0 };
    this.unfinished.set(index, block);
    // What came before the cut is not taken twice.
    const known = block.filled - offset;
    if (known < 0 || known >= bytes.length) return;
    block.bytes.set(bytes.subarray(known), offset + known);
    block.filled = offset + bytes.length;
    if (block.filled < block.bytes.length) return;
    this.unfinished.delete(index);
    await writes.add(index, block.bytes);
  }

  private async stored(index: number, bytes: Uint8Array, run: Run): Promise<void> {
    await this.job.store(index, bytes);
    this.job.plan.markStored(index);
    while (run.next < run.end && this.job.plan.has(run.next)) run.next += 1;
  }

  /** Every piece in time, counted. */
  private async *watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const iterator = bytes[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await inTime(iterator.next(), this.times.stallMs, this.signal);
        if (next.done) return;
        if (next.value.length > 0) {
          this.attempts.progress();
          this.job.reconnecting(false);
          this.job.received(next.value.length);
        }
        yield next.value;
      }
    } finally {
      // Not awaited: a body that stalls would never say that it has ended.
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }
}

function inTime<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new BrokenAnswer('the connection stalled'))), ms);
    const called = () => settle(() => reject(signal.reason as Error));
    const settle = (done: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', called);
      done();
    };
    signal.addEventListener('abort', called, { once: true });
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(new BrokenAnswer('the connection was cut', { cause: error }))),
    );
  });
}

/** A few writes under way at once; the first failure is thrown by the next call. */
class Writes {
  private readonly running = new Set<Promise<void>>();
  private failed: { error: unknown } | undefined;

  constructor(private readonly write: (index: number, bytes: Uint8Array) => Promise<void>) {}

  async add(index: number, bytes: Uint8Array): Promise<void> {
    while (this.running.size >= WRITES_AHEAD) await Promise.race(this.running);
    if (this.failed) throw this.failed.error;
    const work = this.write(index, bytes)
      .catch((error: unknown) => void (this.failed ??= { error }))
      .finally(() => this.running.delete(work));
    this.running.add(work);
  }

  async all(): Promise<void> {
    await Promise.all(this.running);
    if (this.failed) throw this.failed.error;
  }
}

/** Pure: what a failure is to the next attempt. */
export function failureOf(error: unknown): Failure {
  if (error instanceof BusyAnswer)
    return { kind: 'busy', ...(error.afterMs !== undefined && { afterMs: error.afterMs }) };
  if (error instanceof BrokenAnswer) return { kind: 'broken' };
  if (error instanceof HearthError && error.code === 'unreachable') return { kind: isAway(error) ? 'away' : 'broken' };
  return { kind: 'final' };
}

function told(error: unknown): unknown {
  if (error instanceof BrokenAnswer || error instanceof BusyAnswer) {
    return new HearthError('hub_failed', `The file could not be fetched: ${error.message}.`, { cause: error });
  }
  return error;
}

/** Resolves when the plan is complete. Throws HearthError, FileChanged, or the signal's reason; what was stored stays stored. */
export function fetchFile(job: FetchJob): Promise<void> {
  return new Fetch(job).run();
}
