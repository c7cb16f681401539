// One turn from its first event to the stored answer. It never throws: whatever goes wrong is the answer's error.
import { HearthError } from '../../contract/errors';
import { ANSWER_TOKENS, CREATIVITY_TEMPERATURE, MEMORY_TURNS, THOUGHT_TOKENS } from '../../contract/own';
import type { Chat, Message, Receipt, TurnEvent } from '../../contract/own';
import type { GenerationEvent } from '../../contract/runtime';
import type { LibraryModel } from '../../library/types';
import type { GenerateWork } from '../../supervisor/types';
import { identity, refOf, type ServerContext } from '../context';
import { drawSeed } from '../openai/fields';
import { newRequestId } from '../request-id';
import { conversation } from './history';
import { merged, type TurnLog } from './turn-log';

export interface TurnPlan {
  chat: Chat;
  model: LibraryModel;
  user: Message;
  /** Empty and streaming. */
  assistant: Message;
  /** The conversation up to and with the question. */
  branch: Message[];
  /** Where the chat gets one with this turn. */
  title?: string;
}

/** Sliders in the words of the runtime. */
export function workOf({ chat, branch }: TurnPlan, id: string, seed: number): GenerateWork & { id: string } {
  const { answerLength, creativity, memory, effort, instructions } = chat.settings;
  const temperature = CREATIVITY_TEMPERATURE[creativity];
  const answerTokens = ANSWER_TOKENS[answerLength];
  const keepTurns = MEMORY_TURNS[memory];
  return {
    id,
    input: { kind: 'chat', chat: { messages: conversation(branch, instructions), effort, date: chat.date } },
    sampling: { seed, ...(temperature !== undefined && { temperature }) },
    thoughtTokens: THOUGHT_TOKENS[effort],
    ...(answerTokens !== undefined && { answerTokens }),
    ...(keepTurns !== undefined && { keepTurns }),
    fit: true,
    priority: 'interactive',
  };
}

/** Why nothing can be shown yet, where that is so. */
function waitingFor({ supervisor }: ServerContext, model: LibraryModel): TurnEvent | undefined {
  const { running, waiting } = supervisor.queue();
  if (!supervisor.loaded(refOf(model))) return { kind: 'waiting', reason: 'loading', ahead: waiting };
  return running + waiting > 0 ? { kind: 'waiting', reason: 'queue', ahead: running + waiting } : undefined;
}

const STATUS: Record<string, Message['status']> = { cancelled: 'stopped', error: 'error' };

class TurnRun {
  private answer: Message;
  private readonly requestId = newRequestId();
  private readonly seed = drawSeed();
  private temperature = 0;
  private droppedTurns = 0;

  constructor(
    private readonly context: ServerContext,
    private readonly plan: TurnPlan,
    private readonly log: TurnLog,
    private readonly signal: AbortSignal,
    private readonly closing: () => boolean,
  ) {
    this.answer = { ...plan.assistant };
  }

  async run(): Promise<void> {
    try {
      await this.generate();
    } catch (error) {
      const failure = HearthError.from(error);
      this.answer.status = this.signal.aborted ? this.stoppedStatus() : 'error';
      this.answer.finishReason = this.signal.aborted ? 'cancelled' : 'error';
      if (!this.signal.aborted) this.answer.error = failure.toShape();
    }
    // A stopped answer shows which model wrote it just as a finished one does.
    this.answer.receipt = this.receipt();
    await this.context.store.finishMessage(this.answer).catch((error: unknown) => {
      this.context.log?.error(`An answer could not be stored: ${HearthError.from(error).message}`);
    });
    this.log.add({ kind: 'end', message: this.answer });
  }

  private stoppedStatus(): Message['status'] {
    return this.closing() ? 'interrupted' : 'stopped';
  }

  private async generate(): Promise<void> {
    const { model, title } = this.plan;
    if (title !== undefined) this.log.add({ kind: 'title', title });
    const waiting = waitingFor(this.context, model);
    if (waiting) this.log.add(waiting);
    const work = workOf(this.plan, this.requestId, this.seed);
    for await (const event of this.context.generate(refOf(model), work, this.signal)) this.take(event);
    if (this.answer.status === 'streaming') throw new HearthError('internal', 'The generation ended without an end.');
  }

  private take(event: GenerationEvent): void {
    switch (event.kind) {
      case 'start':
        this.temperature = event.temperature;
        this.droppedTurns = event.droppedTurns;
        this.log.add({ kind: 'start', promptTokens: event.promptTokens, droppedTurns: event.droppedTurns });
        return;
      case 'prefill':
        this.log.add({ kind: 'prefill', done: event.done, total: event.total, cached: event.cached });
        return;
      case 'parts':
        return this.grow(event);
      case 'end':
        return this.end(event);
    }
  }

  private grow({ parts, tokenIds }: Extract<GenerationEvent, { kind: 'parts' }>): void {
    // There are no tools in a turn: what a model writes to one is shown, so that no answer is empty for it.
    const texts = merged(
      parts.map(({ channel, delta }) => ({
        kind: channel === 'reasoning' ? ('reasoning' as const) : ('text' as const),
        delta,
      })),
    );
    for (const event of texts) {
      this.answer[event.kind] += event.delta;
      this.log.add(event);
    }
    this.context.store.append(this.answer.id, {
      parts: texts.map(({ kind, delta }) => ({ channel: kind, delta })),
      tokenIds,
    });
  }

  private end(event: Extract<GenerationEvent, { kind: 'end' }>): void {
    this.answer.finishReason = event.reason;
    this.answer.usage = event.usage;
    this.answer.timings = event.timings;
    this.answer.status = event.reason === 'cancelled' ? this.stoppedStatus() : (STATUS[event.reason] ?? 'complete');
    if (event.error) this.answer.error = event.error;
  }

  private receipt(): Receipt {
    const { model, chat } = this.plan;
    return {
      model: model.name,
      ...identity(this.context, model),
      requestId: this.requestId,
      seed: this.seed,
      temperature: this.temperature,
      effort: chat.settings.effort,
      date: chat.date,
      droppedTurns: this.droppedTurns,
    };
  }
}

export function runTurn(
  context: ServerContext,
  plan: TurnPlan,
  log: TurnLog,
  signal: AbortSignal,
  closing: () => boolean,
): Promise<void> {
  return new TurnRun(context, plan, log, signal, closing).run();
}
