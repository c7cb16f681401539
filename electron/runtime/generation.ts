// One request from its first token to its end: what each token becomes, when it is over, when the row must wait for a word of ours.
// It talks to no engine and no process: native events in, contract events and orders out. Replayed tokens give the same state
// and no events, so that a resumed answer goes on byte for byte.
import type { FinishReason, TokenLogprob } from '../contract/chat';
import { HearthError } from '../contract/errors';
import type { GenerationEvent, Part } from '../contract/runtime';
import type { NativeEvent, NativeGuide } from './addon';
import type { FullParams } from './host-link';
import { LogprobQueue, describeLogprob } from './logprob-queue';
import { joinParts, type OutputReader, type Place } from './reader';
import type { RowGuide } from './step-guide';
import type { Stopwatch } from './stopwatch';
import type { StopMatcher } from './text';

export interface GenerationSetup {
  request: FullParams<'generate'>;
  promptTokens: number;
  droppedTurns: number;
  temperature: number;
  /** Most output tokens, whatever was asked for: what the context has room for. */
  room: number;
  stopTokens: ReadonlySet<number>;
  reader: OutputReader;
  stops: StopMatcher;
  guide: RowGuide;
  stopwatch: Stopwatch;
  bytes(token: number): Uint8Array;
  /** The prompt as text, for `echo`. */
  echoText?: string;
}

/** What a batch of native events leads to. */
export interface Outcome {
  events: GenerationEvent[];
  /** For the row, which is paused. */
  guide?: NativeGuide | Promise<NativeGuide>;
  /** It is over for us: the engine may stop. */
  over: boolean;
  /** What is wrong with the whole answer, or null: its end, the last event, must wait for that. */
  verdict?: Promise<string | null>;
}

type TokenEvent = Extract<NativeEvent, { kind: 'token' }>;
type FinishedEvent = Extract<NativeEvent, { kind: 'finished' }>;
type Echo = NonNullable<Extract<GenerationEvent, { kind: 'end' }>['echo']>;

export class Generation {
  readonly id: string;
  private count = 0;
  private readonly tokensOf: Record<Place, number> = { markup: 0, reasoning: 0, text: 0, tool: 0 };
  private readonly logprobs = new LogprobQueue();
  private textKnown = 0;
  private textShown = 0;
  private cached = 0;
  private echo: Echo | undefined;
  private over = false;
  private verdict: Outcome['verdict'];
  /** Of the batch at hand. */
  private batch: { index: number; tokenIds: number[]; parts: Part[]; logprobs: TokenLogprob[] };

  constructor(private readonly setup: GenerationSetup) {
    this.id = setup.request.id;
    this.batch = emptyBatch(0);
  }

  /** The first event. */
  start(): GenerationEvent {
    const { promptTokens, temperature, droppedTurns } = this.setup;
    return { kind: 'start', id: this.id, promptTokens, temperature, droppedTurns };
  }

  /** Tokens that were given before, silently. Gives the end where nothing more is to come. */
  replay(tokens: readonly number[]): Outcome | undefined {
    let reason: FinishReason | undefined;
    for (const token of tokens) {
      reason = this.take(token) ?? this.endsAt(token);
      if (reason) break;
    }
    this.logprobs.release(this.textShown);
    this.batch = emptyBatch(this.count);
    return reason ? this.outcome(this.finish(reason)) : undefined;
  }

  /** Where the row must first wait for us; undefined: nowhere. */
  firstPause(): number | undefined {
    return this.setup.guide.nextPause(this.count, this.position());
  }

  onEvents(events: readonly NativeEvent[]): Outcome {
    const out: GenerationEvent[] = [];
    let guide: Outcome['guide'];
    for (const event of events) {
      if (this.over) break;
      if (event.kind === 'prefill') out.push(this.onPrefill(event));
      else if (event.kind === 'token') out.push(...this.onToken(event));
      else if (event.kind === 'paused') guide = this.setup.guide.at(event.index, this.position());
      else out.push(...this.onFinished(event));
    }
    if (!this.over) out.push(...this.flush());
    return this.outcome(out, guide);
  }

  /** An end that comes from outside: cancelled, or an error of the engine. */
  endWith(reason: 'cancelled' | 'error', error?: HearthError): GenerationEvent[] {
    return this.over ? [] : this.finish(reason, error);
  }

  private outcome(events: GenerationEvent[], guide?: Outcome['guide']): Outcome {
    const { over, verdict } = this;
    return { events, over, ...(guide && !over && { guide }), ...(verdict && { verdict }) };
  }

  private position() {
    return { place: this.setup.reader.place, reasoningTokens: this.tokensOf.reasoning };
  }

  private onPrefill(event: Extract<NativeEvent, { kind: 'prefill' }>): GenerationEvent {
    const { stopwatch } = this.setup;
    stopwatch.start();
    if (event.index >= event.total) stopwatch.prefillDone(event.agoMs);
    this.cached = event.cached;
    if (event.promptLogprobs) this.echo = this.describeEcho(event.promptLogprobs, event.promptTop ?? []);
    return { kind: 'prefill', id: this.id, done: event.index, total: event.total, cached: event.cached };
  }

  private onToken(event: TokenEvent): GenerationEvent[] {
    if (event.index < this.count) return []; // given before a resume
    this.setup.stopwatch.token(event.agoMs);
    const reason = this.take(event.token, event);
    return reason ? this.finish(reason) : [];
  }

  private onFinished(event: FinishedEvent): GenerationEvent[] {
    this.cached = event.cached;
    const error = event.error && HearthError.from(event.error);
    return this.finish(event.reason, error);
  }

  /** Reads one token into the batch. Gives why the generation is over for us, if it is. */
  private take(token: number, event?: TokenEvent): FinishReason | undefined {
    const { reader, stops, guide, request } = this.setup;
    guide.accept(token, this.position());
    const { parts, place } = reader.push(token);
    this.count += 1;
    this.tokensOf[place] += 1;
    this.batch.tokenIds.push(token);
    if (place === 'text' && event?.logprob !== undefined && request.logprobs !== undefined) {
      const described = describeLogprob(token, event.logprob, event.top ?? [], (id) => this.setup.bytes(id));
      this.logprobs.add(this.textKnown, described);
    }
    this.show(parts);
    if (stops.stopped !== undefined) return 'stop';
    if (request.answerTokens !== undefined && this.tokensOf.text >= request.answerTokens) return 'length';
    return undefined;
  }

  private endsAt(token: number): FinishReason | undefined {
    if (this.setup.stopTokens.has(token)) return 'stop';
    return this.count >= Math.min(this.setup.request.maxTokens ?? Infinity, this.setup.room) ? 'length' : undefined;
  }

  /** Text goes through the stop strings; thoughts and arguments do not. */
  private show(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.channel !== 'text') {
        this.batch.parts.push(part);
        continue;
      }
      this.textKnown += part.delta.length;
      this.showText(this.setup.stops.push(part.delta).text);
    }
  }

  private showText(delta: string): void {
    if (delta === '') return;
    this.textShown += delta.length;
    this.batch.parts.push({ channel: 'text', delta });
    this.batch.logprobs.push(...this.logprobs.release(this.textShown));
  }

  /** The batch as an event, if there is anything in it. */
  private flush(): GenerationEvent[] {
    const { index, tokenIds, parts, logprobs } = this.batch;
    this.batch = emptyBatch(this.count);
    if (tokenIds.length === 0 && parts.length === 0 && logprobs.length === 0) return [];
    const joined = joinParts(parts);
    return [{ kind: 'parts', id: this.id, index, tokenIds, parts: joined, ...(logprobs.length > 0 && { logprobs }) }];
  }

  private finish(reason: FinishReason, error?: HearthError): GenerationEvent[] {
    const { reader, stops, stopwatch, promptTokens, guide } = this.setup;
    this.over = true;
    this.show(reader.end());
    if (stops.stopped === undefined) {
      this.showText(stops.finish());
      this.batch.logprobs.push(...this.logprobs.releaseAll());
    }
    const usage = {
      promptTokens,
      completionTokens: this.count,
      reasoningTokens: this.tokensOf.reasoning,
      cachedTokens: this.cached,
    };
    const why = this.reason(reason);
    // A stop string cuts an answer as a limit does: what is cut is not checked.
    const whole = (why === 'stop' || why === 'tool_calls') && stops.stopped === undefined;
    this.verdict = guide.end(whole ? reader.output : undefined);
    const end: GenerationEvent = {
      kind: 'end',
      id: this.id,
      reason: why,
      usage,
      timings: stopwatch.timings(promptTokens - this.cached),
      ...(error && { error: error.toShape() }),
      ...(this.echo && { echo: this.echo }),
    };
    return [...this.flush(), end];
  }

  /** Known only when the last part has been read. */
  private reason(reason: FinishReason): FinishReason {
    const { stops, reader } = this.setup;
    if (stops.stopped !== undefined) return 'stop';
    return reason === 'stop' && reader.calledTool ? 'tool_calls' : reason;
  }

  private describeEcho(
    logprobs: readonly { token: number; logprob: number }[],
    top: readonly (readonly { token: number; logprob: number }[])[],
  ): Echo {
    const described = logprobs.map(({ token, logprob }, i) =>
      describeLogprob(token, logprob, top[i] ?? [], (id) => this.setup.bytes(id)),
    );
    return { text: this.setup.echoText ?? '', logprobs: [null, ...described] };
  }
}

function emptyBatch(index: number) {
  return { index, tokenIds: [], parts: [], logprobs: [] };
}
