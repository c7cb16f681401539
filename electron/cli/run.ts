// `hearth run`: one question, one answer, streamed to the terminal. With a running Hearth and a model's name it asks that one, which
// may have the model in memory already; with a path or --json it runs in this process.
import { randomInt } from 'node:crypto';
import { isPath, runningServer } from '../app';
import type { Effort } from '../contract/chat';
import { HearthError } from '../contract/errors';
import { THOUGHT_TOKENS } from '../contract/own';
import type { GenerateRequest, GenerationEvent, Mesh } from '../contract/runtime';
import { askServer } from './ask-server';
import { modelRef, precisionOf, showLoading, withEngine } from './engine';
import { dim, json, type Io } from './report';

export interface RunOptions {
  temperature?: number;
  maxTokens?: number;
  effort: Effort;
  seed?: number;
  system?: string;
  threads?: number;
  kv?: 'f16' | 'q8';
  device?: string;
  mesh?: Mesh;
  exact?: boolean;
  json?: boolean;
  dataDir?: string;
}

export interface Transcript {
  text: string;
  reasoning: string;
  tokens: number[];
  end?: Extract<GenerationEvent, { kind: 'end' }>;
}

/** Gives the exit code: 130 after Ctrl-C. */
export async function run(
  model: string,
  prompt: string,
  options: RunOptions,
  io: Io,
  signal: AbortSignal,
): Promise<number> {
  const printer = new Printer(io, options.json ?? false);
  const { kv, threads, device, mesh } = options;
  const ownLoad = options.json || options.exact || [kv, threads, device, mesh].some((value) => value !== undefined);
  const server = ownLoad || isPath(model) ? undefined : await runningServer(options.dataDir);
  if (server) {
    const question = { model, prompt, ...options };
    for await (const part of askServer(server, question, signal)) printer.part(part);
  } else {
    await inProcess(model, prompt, options, io, printer, signal);
  }
  printer.end();
  return signal.aborted ? 130 : 0;
}

async function inProcess(
  model: string,
  prompt: string,
  options: RunOptions,
  io: Io,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  const { exact, threads, kv, device, mesh, dataDir } = options;
  await withEngine(
    { load: { precision: precisionOf(exact), threads, kvType: kv, device: device ?? (mesh && 'cpu'), mesh }, dataDir },
    async (engine) => {
      const ref = await modelRef(engine, model);
      const done = showLoading(engine, io);
      const loaded = await engine.supervisor.load(ref).finally(done);
      const work = request(prompt, options, loaded.abilities.chat);
      for await (const event of engine.supervisor.generate(ref, work, signal)) printer.event(event);
    },
  );
}

/** A model that cannot chat goes on with the text instead. */
export function request(prompt: string, options: RunOptions, chats: boolean): Omit<GenerateRequest, 'id'> {
  const system = options.system === undefined ? [] : [{ role: 'system' as const, content: options.system }];
  const chat = { messages: [...system, { role: 'user' as const, content: prompt }], effort: options.effort };
  return {
    input: chats ? { kind: 'chat', chat } : { kind: 'text', text: prompt },
    sampling: {
      seed: options.seed ?? randomInt(2 ** 32),
      ...(options.temperature !== undefined && { temperature: options.temperature }),
    },
    thoughtTokens: THOUGHT_TOKENS[options.effort],
    ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
  };
}

/** Thoughts dimmed and only on a terminal: a pipe gets the answer and nothing else. */
class Printer {
  private readonly transcript: Transcript = { text: '', reasoning: '', tokens: [] };
  private thinking = false;

  constructor(
    private readonly io: Io,
    private readonly asJson: boolean,
  ) {}

  event(event: GenerationEvent): void {
    if (event.kind === 'parts') {
      this.transcript.tokens.push(...event.tokenIds);
      for (const part of event.parts) this.part(part);
    }
    if (event.kind !== 'end') return;
    this.transcript.end = event;
    if (event.error) throw HearthError.from(event.error);
  }

  part(part: { channel: string; delta: string; name?: string | undefined }): void {
    if (part.channel === 'reasoning') this.transcript.reasoning += part.delta;
    if (part.channel === 'text') this.transcript.text += part.delta;
    if (this.asJson) return;
    if (part.channel === 'reasoning') {
      if (this.io.terminal) this.io.out(dim(this.io, part.delta));
      this.thinking = true;
    } else {
      if (this.thinking && this.io.terminal) this.io.out('\n\n');
      this.thinking = false;
      this.io.out(part.channel === 'tool' && part.name ? `${part.name} ${part.delta}` : part.delta);
    }
  }

  end(): void {
    const { text, reasoning, tokens, end } = this.transcript;
    if (!this.asJson) this.io.out(text.endsWith('\n') ? '' : '\n');
    else json(this.io, { text, reasoning, tokens, finish_reason: end?.reason, ...counted(end) });
  }
}

function counted(end: Transcript['end']) {
  if (!end) return {};
  const { usage, timings } = end;
  return {
    usage: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      reasoning_tokens: usage.reasoningTokens,
      cached_tokens: usage.cachedTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
    },
    timings: {
      queue_ms: timings.queueMs,
      prefill_ms: timings.prefillMs,
      ttft_ms: timings.ttftMs,
      decode_ms: timings.decodeMs,
      prefill_tps: timings.prefillTps,
      decode_tps: timings.decodeTps,
    },
  };
}
