// One request on its way: the stream that its caller reads and the tokens that it has been given so far (for a resume).
// It does not know which process answers.
import type { FinishReason } from '../contract/chat';
import type { HearthError } from '../contract/errors';
import type { GenerateRequest, GenerationEvent } from '../contract/runtime';
import { isNews, type Progress, type Waiting } from './policy';

type EndEvent = Extract<GenerationEvent, { kind: 'end' }>;

export class Answer implements Waiting {
  readonly id: string;
  readonly priority: 'interactive' | 'background';
  readonly tokens: number[] = [];
  crashes = 0;
  /** With the runtime now, or on the way to it. */
  sent = false;
  /** Its caller wants no more of it: never sent again. */
  cancelled = false;
  private readonly progress: Progress = { started: false, tokens: 0, ended: false };
  private readonly queue: GenerationEvent[] = [];
  private failure: HearthError | undefined;
  private wake: (() => void) | undefined;
  private sentAt: number | undefined;
  private readonly createdAt = performance.now();

  constructor(
    private readonly request: GenerateRequest,
    readonly arrival: number,
  ) {
    this.id = request.id;
    this.priority = request.priority ?? 'interactive';
  }

  /** Since it came, whether or not it is served by now. */
  waitedMs(): number {
    return performance.now() - this.createdAt;
  }

  /** The most that it may give, where its caller said so. */
  get maxTokens(): number | undefined {
    return this.request.maxTokens;
  }

  get ended(): boolean {
    return this.progress.ended;
  }

  /** The message for a runtime, which goes on from the tokens that were already given. */
  toRequest(): GenerateRequest {
    this.sentAt ??= performance.now();
    return this.tokens.length > 0 ? { ...this.request, resumeTokens: [...this.tokens] } : this.request;
  }

  push(event: GenerationEvent): void {
    if (!isNews(this.progress, event)) return;
    if (event.kind === 'start') this.progress.started = true;
    if (event.kind === 'parts') {
      for (const token of event.tokenIds) this.tokens.push(token);
      this.progress.tokens = event.index + event.tokenIds.length;
    }
    if (event.kind === 'end') this.progress.ended = true;
    this.queue.push(event.kind === 'end' ? this.withWaiting(event) : event);
    this.wake?.();
  }

  /** Before its start a failure is thrown to the reader, afterwards it is in the last event. */
  fail(error: HearthError): void {
    if (this.progress.ended) return;
    if (this.progress.started) {
      this.end('error', error);
      return;
    }
    this.progress.ended = true;
    this.failure = error;
    this.wake?.();
  }

  /** An end that no runtime said. */
  end(reason: FinishReason, error?: HearthError): void {
    const usage = { promptTokens: 0, completionTokens: this.tokens.length, reasoningTokens: 0, cachedTokens: 0 };
    const timings = { queueMs: 0, prefillMs: 0, ttftMs: 0, decodeMs: 0, prefillTps: 0, decodeTps: 0 };
    this.push({ kind: 'end', id: this.id, reason, usage, timings, ...(error && { error: error.toShape() }) });
  }

  /** For one reader. */
  async *events(): AsyncGenerator<GenerationEvent, void> {
    for (;;) {
      const event = this.queue.shift();
      if (event) {
        yield event;
        if (event.kind === 'end') return;
        continue;
      }
      if (this.failure) throw this.failure;
      await new Promise<void>((resolve) => (this.wake = resolve));
      this.wake = undefined;
    }
  }

  /** The runtime knows only its own queue; the wait in ours counts too. */
  private withWaiting(event: EndEvent): EndEvent {
    const waited = Math.max(0, (this.sentAt ?? performance.now()) - this.createdAt);
    return { ...event, timings: { ...event.timings, queueMs: event.timings.queueMs + waited } };
  }
}
