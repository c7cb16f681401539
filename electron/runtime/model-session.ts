// One loaded model at work: requests come in as the contract says, go through prompt thread and engine, and come out as events.
// It owns the engine and the prompt thread; it knows no process and no port.
import { HearthError } from '../contract/errors';
import type { BenchResult, GenerationEvent, LayerUses, Loaded, Stats } from '../contract/runtime';
import type { Addon, NativeEngine, NativeEvent, NativeGuide, NativeInspection, NativeRequest } from './addon';
import { bench, type BenchParams } from './bench';
import { workOf } from './bench-work';
import { checkedEnd } from './end-check';
import { Generation, type Outcome } from './generation';
import { HarmonyParser } from './harmony';
import { needsConstraint, type ConstraintRun, type ConstraintThread } from './constraint-thread';
import type { FullParams } from './host-link';
import type { ModelTraits } from './model-traits';
import { ParserReader } from './parser-reader';
import { processMemory } from './process-memory';
import type { GenerateInput, Prompt } from './prompt-maker';
import type { PromptThread } from './prompt-thread';
import { RawReader } from './raw-reader';
import type { OutputReader } from './reader';
import { ConstrainedGuide, ThoughtGuide } from './step-guide';
import { Stopwatch } from './stopwatch';
import { PlainParser } from './templates';
import { StopMatcher } from './text';
import type { Tokenizer } from './tokenizer';

type GenerateParams = FullParams<'generate'>;

export interface SessionParts {
  addon: Addon;
  engine: NativeEngine;
  inspection: NativeInspection;
  tokenizer: Tokenizer;
  traits: ModelTraits;
  prompts: PromptThread;
  constraints: ConstraintThread;
  loaded: Loaded;
  emit(events: GenerationEvent[]): void;
}

/** Who gets the events of one request of the engine. */
interface Row {
  id: string | undefined;
  onEvents(events: NativeEvent[]): GenerationEvent[];
  cancel(): GenerationEvent[];
}

/** Where the chat is shortened to fit, this share of the context stays free for the answer. */
const ANSWER_SHARE = 4;

export class ModelSession {
  readonly loaded: Loaded;
  private readonly rows = new Map<number, Row>();
  /** Requests whose prompt is being made. */
  private readonly preparing = new Map<string, AbortController>();
  private lastRow = 0;
  private draining = false;
  private idle: (() => void) | undefined;

  constructor(private readonly parts: SessionParts) {
    this.loaded = parts.loaded;
    parts.engine.setEventHandler((events) => this.onEvents(events));
  }

  /** Resolves when the request is with the engine. Throws before any work where it cannot be. */
  async generate(request: GenerateParams): Promise<void> {
    if (this.draining) throw new HearthError('no_model', 'The model is being replaced.');
    if (this.isKnown(request.id)) throw new HearthError('invalid_request', `There is a request ${request.id} already.`);
    const controller = new AbortController();
    this.preparing.set(request.id, controller);
    const stopwatch = new Stopwatch();
    try {
      const prompt = await this.prepare(request, controller.signal);
      const constraint = await this.constrain(request, prompt, controller.signal);
      if (controller.signal.aborted) {
        constraint?.end();
        throw new HearthError('cancelled', 'The request was cancelled.');
      }
      this.begin(request, prompt, constraint, stopwatch);
    } catch (error) {
      if (!controller.signal.aborted) throw error;
      this.parts.emit([cancelledEnd(request.id, stopwatch)]);
    } finally {
      this.preparing.delete(request.id);
      this.tellIdle();
    }
  }

  cancel(id: string): void {
    this.preparing.get(id)?.abort();
    for (const [number, row] of this.rows) {
      if (row.id !== id) continue;
      this.rows.delete(number);
      this.parts.engine.cancel(number);
      this.parts.emit(row.cancel());
      this.tellIdle();
    }
  }

  grant(kvBytes: number): void {
    this.parts.engine.setKvGrant(kvBytes);
  }

  async count(input: GenerateInput): Promise<number> {
    return (await this.parts.prompts.make({ input, maxTokens: Number.MAX_SAFE_INTEGER })).tokens.length;
  }

  tokenize(text: string): Promise<number[]> {
    return this.parts.prompts.tokenize(text);
  }

  detokenize(tokens: number[]): string {
    return this.parts.tokenizer.decode(tokens, { control: true });
  }

  async logits(tokens: number[]): Promise<number[]> {
    return Array.from(await this.parts.engine.logits(tokens));
  }

  stats(): Stats {
    return { ...this.parts.engine.stats(), ...processMemory() };
  }

  expertUses(): LayerUses[] {
    const { layers, experts, uses, rows } = this.parts.engine.expertUses();
    if (experts === 0) return [];
    return Array.from({ length: layers }, (_, layer) => ({
      rows: rows[layer] ?? 0,
      experts: Array.from(uses.subarray(layer * experts, (layer + 1) * experts)),
    }));
  }

  async bench(params: BenchParams): Promise<BenchResult> {
    const { engine, inspection, loaded } = this.parts;
    const needed = params.prefill + params.decode;
    if (needed > loaded.context) {
      const message = `${params.prefill} + ${params.decode} tokens are more than the context of ${loaded.context}.`;
      throw new HearthError('context_length_exceeded', message, { needed, available: loaded.context });
    }
    const run = (request: Omit<NativeRequest, 'id'>, onEvents: (events: NativeEvent[]) => void) =>
      this.runRow(request, onEvents, params.withinMs);
    const measured = await bench(params, this.parts.tokenizer.size, run);
    return { ...measured, kvBytes: engine.stats().kvBytesTotal, work: workOf(inspection, params) };
  }

  /** Gives back what has not begun; resolves when the rest has ended. */
  async drain(): Promise<string[]> {
    this.draining = true;
    const unstarted = [...this.preparing.keys()];
    for (const controller of this.preparing.values()) controller.abort();
    while (this.rows.size > 0 || this.preparing.size > 0) await new Promise<void>((resolve) => (this.idle = resolve));
    return unstarted;
  }

  async close(): Promise<void> {
    await Promise.all([this.parts.prompts.close(), this.parts.constraints.close()]);
    await this.parts.engine.close();
  }

  private isKnown(id: string): boolean {
    return this.preparing.has(id) || [...this.rows.values()].some((row) => row.id === id);
  }

  private prepare(request: GenerateParams, signal: AbortSignal): Promise<Prompt> {
    const { context } = this.loaded;
    const wanted = Math.min(request.maxTokens ?? Infinity, Math.floor(context / ANSWER_SHARE));
    return this.parts.prompts.make(
      {
        input: request.input,
        maxTokens: context - 1,
        ...(request.keepTurns !== undefined && { keepTurns: request.keepTurns }),
        ...(request.fit && { fitTokens: context - Math.max(1, wanted) }),
        wantText: request.echo,
      },
      signal,
    );
  }

  private async constrain(
    { input }: GenerateParams,
    prompt: Prompt,
    signal: AbortSignal,
  ): Promise<ConstraintRun | undefined> {
    if (input.kind !== 'chat' || !needsConstraint(input.chat)) return undefined;
    return this.parts.constraints.begin(input.chat, prompt.opensThought ?? false, signal);
  }

  private begin(
    request: GenerateParams,
    prompt: Prompt,
    constraint: ConstraintRun | undefined,
    stopwatch: Stopwatch,
  ): void {
    const { traits, tokenizer, engine } = this.parts;
    const temperature = request.sampling.temperature ?? traits.defaultTemperature;
    const room = this.loaded.context - prompt.tokens.length;
    const reader = this.reader(request, prompt, constraint?.wholeCall ?? false);
    const generation = new Generation({
      request,
      promptTokens: prompt.tokens.length,
      droppedTurns: prompt.droppedTurns,
      temperature,
      room,
      stopTokens: new Set(traits.stopTokens),
      reader,
      stops: new StopMatcher(request.stop),
      guide: constraint
        ? new ConstrainedGuide(constraint, request.thoughtTokens)
        : new ThoughtGuide(request.thoughtTokens, () => reader.beginAnswer()),
      stopwatch,
      bytes: (token) => tokenizer.bytes(token),
      ...(prompt.text !== undefined && { echoText: prompt.text }),
    });
    const replayed = generation.replay(request.resumeTokens ?? []);
    if (replayed) {
      this.parts.emit([generation.start(), ...this.eventsOf(++this.lastRow, replayed)]);
      return;
    }
    const number = ++this.lastRow;
    this.rows.set(number, this.row(number, generation));
    try {
      engine.submit(
        this.nativeRequest(number, request, prompt, { temperature, room, pauseAt: generation.firstPause() }),
      );
    } catch (error) {
      this.rows.delete(number);
      generation.endWith('error'); // lets go of what it holds
      throw error;
    }
    stopwatch.start();
    this.parts.emit([generation.start()]);
  }

  private row(number: number, generation: Generation): Row {
    return {
      id: generation.id,
      onEvents: (events) => {
        const outcome = generation.onEvents(events);
        if (outcome.guide instanceof Promise) void this.guideLater(number, generation, outcome.guide);
        else if (outcome.guide) this.parts.engine.guide(number, outcome.guide);
        if (outcome.over) {
          this.rows.delete(number);
          this.parts.engine.cancel(number);
        }
        return this.eventsOf(number, outcome);
      },
      cancel: () => generation.endWith('cancelled'),
    };
  }

  /** The end of an answer that is being checked follows later; it can still be cancelled. */
  private eventsOf(number: number, { events, verdict }: Outcome): GenerationEvent[] {
    const end = events.at(-1);
    if (!verdict || end?.kind !== 'end') return events;
    this.rows.set(number, { id: end.id, onEvents: () => [], cancel: () => [{ ...end, reason: 'cancelled' }] });
    void checkedEnd(end, verdict).then((checked) => {
      if (!this.rows.delete(number)) return;
      this.parts.emit([checked]);
      this.tellIdle();
    });
    return events.slice(0, -1);
  }

  /** A constraint that is lost ends the request: it must not go on unconstrained. */
  private async guideLater(number: number, generation: Generation, guide: Promise<NativeGuide>): Promise<void> {
    try {
      const word = await guide;
      if (this.rows.has(number)) this.parts.engine.guide(number, word);
    } catch (error) {
      if (!this.rows.delete(number)) return;
      this.parts.engine.cancel(number);
      this.parts.emit(generation.endWith('error', HearthError.from(error)));
      this.tellIdle();
    }
  }

  private reader(request: GenerateParams, prompt: Prompt, wholeCall: boolean): OutputReader {
    const { traits, tokenizer } = this.parts;
    if (request.input.kind !== 'chat') return new RawReader(tokenizer);
    const { tools, toolChoice } = request.input.chat;
    const options = {
      tools: toolChoice === 'none' ? [] : tools.map(({ name }) => name),
      // Derived from the request, so that a resumed answer names its calls as before.
      callId: (call: number) => `call_${request.id.replace(/[^A-Za-z0-9]/g, '').slice(-24) || 'x'}${call}`,
    };
    const thinking = prompt.opensThought ?? false;
    const parser = traits.control
      ? new HarmonyParser(tokenizer, traits.control, options)
      : new PlainParser(tokenizer, { ...options, thinking, wholeCall });
    return new ParserReader(parser);
  }

  private nativeRequest(
    id: number,
    request: GenerateParams,
    prompt: Prompt,
    { temperature, room, pauseAt }: { temperature: number; room: number; pauseAt: number | undefined },
  ): NativeRequest {
    const { temperature: _, ...sampling } = request.sampling;
    const { traits } = this.parts;
    return {
      id,
      prompt: Int32Array.from(prompt.tokens),
      ...(request.resumeTokens && { resumeTokens: request.resumeTokens }),
      sampling: { ...sampling, temperature, ...(request.logprobs !== undefined && { logprobs: request.logprobs }) },
      maxTokens: Math.min(request.maxTokens ?? room, room),
      stopTokens: traits.stopTokens,
      bannedTokens: traits.bannedTokens,
      ...(pauseAt !== undefined && { pauseAt }),
      ...(request.echo && { promptLogprobs: true }),
      priority: request.priority === 'interactive' ? 1 : 0,
      cacheScope: request.cacheScope,
      ...(prompt.cutPoints && { cutPoints: prompt.cutPoints }),
    };
  }

  /** A request without text, for measurements. */
  private runRow(
    request: Omit<NativeRequest, 'id'>,
    onEvents: (events: NativeEvent[]) => void,
    withinMs?: number,
  ): Promise<void> {
    const number = ++this.lastRow;
    const end = withinMs === undefined ? undefined : setTimeout(() => this.parts.engine.cancel(number), withinMs);
    return new Promise<void>((resolve, reject) => {
      const take = (events: NativeEvent[]) => {
        onEvents(events);
        const finished = events.find((event) => event.kind === 'finished');
        if (!finished) return [];
        this.rows.delete(number);
        if (finished.error) reject(HearthError.from(finished.error));
        else resolve();
        return [];
      };
      this.rows.set(number, { id: undefined, onEvents: take, cancel: () => [] });
      this.parts.engine.submit({ ...request, id: number, useCache: false });
    }).finally(() => clearTimeout(end));
  }

  /** All that one callback brings goes out as one message. */
  private onEvents(events: NativeEvent[]): void {
    const byRow = new Map<number, NativeEvent[]>();
    for (const event of events) {
      const own = byRow.get(event.id);
      if (own) own.push(event);
      else byRow.set(event.id, [event]);
    }
    const out = [...byRow].flatMap(([number, own]) => this.rows.get(number)?.onEvents(own) ?? []);
    this.parts.emit(out);
    this.tellIdle();
  }

  private tellIdle(): void {
    if (this.rows.size === 0 && this.preparing.size === 0) this.idle?.();
  }
}

function cancelledEnd(id: string, stopwatch: Stopwatch): GenerationEvent {
  const usage = { promptTokens: 0, completionTokens: 0, reasoningTokens: 0, cachedTokens: 0 };
  return { kind: 'end', id, reason: 'cancelled', usage, timings: stopwatch.timings(0) };
}
