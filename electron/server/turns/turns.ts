// Turns: a question is stored, an answer generated through the supervisor, every event kept for whoever attaches, and the outcome
// stored. One turn per chat at a time. A page that goes away changes nothing here.
import { randomUUID } from 'node:crypto';
import { HearthError } from '../../contract/errors';
import { branchOf } from '../../contract/branch';
import type { Chat, ChatWithMessages, Message, TurnRequest, TurnStarted } from '../../contract/own';
import type { LibraryModel } from '../../library/types';
import { defaultModel, usableModel, type ServerContext } from '../context';
import { questionOf } from './history';
import { runTurn, type TurnPlan } from './run-turn';
import { titleOf } from './title';
import { TurnLog } from './turn-log';

/** A page that comes back within this time may still read the events; after it, the stored message says the same. */
const KEPT_MS = 5 * 60_000;

interface Turn {
  id: string;
  chatId: string;
  log: TurnLog;
  stop: AbortController;
  done: Promise<void>;
}

type Messages = Pick<Message, 'chatId' | 'createdAt'>;

const userMessage = (base: Messages, parentId: string | null, text: string): Message => ({
  ...base,
  id: randomUUID(),
  parentId,
  role: 'user',
  text,
  reasoning: '',
  status: 'complete',
});

const emptyAnswer = (base: Messages, parentId: string): Message => ({
  ...base,
  id: randomUUID(),
  parentId,
  role: 'assistant',
  text: '',
  reasoning: '',
  status: 'streaming',
});

export class Turns {
  private readonly turns = new Map<string, Turn>();
  /** Chats with a turn, from before its first write on: two windows may ask at the same moment. */
  private readonly busy = new Map<string, Turn | undefined>();
  private closing = false;

  constructor(private readonly context: ServerContext) {}

  /** Throws `not_found`, `chat_busy`, and what choosing the model throws. */
  async start(chatId: string, request: TurnRequest): Promise<TurnStarted> {
    if (this.closing) throw new HearthError('cancelled', 'Hearth is closing.');
    if (this.busy.has(chatId)) throw new HearthError('chat_busy', 'This chat is being answered.');
    this.busy.set(chatId, undefined);
    try {
      const plan = await this.plan(chatId, request);
      const { user, assistant, isNew, title } = plan;
      await this.context.store.beginTurn({
        chatId,
        ...(isNew && { user }),
        assistant,
        ...(title !== undefined && { title }),
        at: assistant.createdAt,
      });
      const turn = this.run(plan);
      return { turn: turn.id, user, assistant };
    } catch (error) {
      this.busy.delete(chatId);
      throw error;
    }
  }

  private async plan(chatId: string, request: TurnRequest): Promise<TurnPlan & { isNew: boolean }> {
    const chat = await this.existing(chatId);
    const model: LibraryModel = await (request.model === undefined
      ? defaultModel(this.context)
      : usableModel(this.context, request.model));
    const messages = await this.context.store.messages(chatId);
    const base = { chatId, createdAt: Date.now() };
    const again = 'regenerate' in request;
    const user = again
      ? questionOf(messages, request.regenerate)
      : userMessage(base, this.parentOf(chat, messages, request.parentId), request.text);
    const branch = again ? branchOf(messages, user.id) : [...branchOf(messages, user.parentId), user];
    const title = chat.title === '' ? titleOf(user.text) : '';
    return {
      chat,
      model,
      user,
      assistant: emptyAnswer(base, user.id),
      branch,
      isNew: !again,
      ...(title !== '' && { title }),
    };
  }

  private async existing(chatId: string): Promise<Chat> {
    const chat = await this.context.store.getChat(chatId);
    if (!chat || chat.deletedAt !== null) throw new HearthError('not_found', 'There is no such chat.');
    return chat;
  }

  /** Absent: after the message in view. */
  private parentOf(chat: Chat, messages: readonly Message[], parentId: string | null | undefined): string | null {
    const parent = parentId === undefined ? chat.headId : parentId;
    if (parent !== null && !messages.some((message) => message.id === parent)) {
      throw new HearthError('not_found', 'The message before this one is not in the chat.', { param: 'parentId' });
    }
    return parent;
  }

  private run(plan: TurnPlan): Turn {
    const log = new TurnLog();
    const stop = new AbortController();
    const turn: Turn = { id: `turn_${randomUUID()}`, chatId: plan.chat.id, log, stop, done: Promise.resolve() };
    this.turns.set(turn.id, turn);
    this.busy.set(turn.chatId, turn);
    turn.done = runTurn(this.context, plan, log, stop.signal, () => this.closing).finally(() => {
      this.busy.delete(turn.chatId);
      setTimeout(() => this.turns.delete(turn.id), KEPT_MS).unref();
    });
    return turn;
  }

  /** The turn that a page may attach to. */
  ofChat(chatId: string): string | undefined {
    return this.busy.get(chatId)?.id;
  }

  withTurn(chat: Chat, messages: Message[]): ChatWithMessages {
    const turn = this.ofChat(chat.id);
    return { ...chat, messages, ...(turn !== undefined && { turn }) };
  }

  log(id: string): TurnLog {
    const turn = this.turns.get(id);
    if (!turn) throw new HearthError('not_found', 'This turn has ended a while ago; the chat has its answer.');
    return turn.log;
  }

  /** Resolves when the answer is stored as it is. Also where it had already ended. */
  async stop(id: string): Promise<void> {
    const turn = this.turns.get(id);
    turn?.stop.abort();
    await turn?.done;
  }

  async stopChat(chatId: string): Promise<void> {
    const turn = this.ofChat(chatId);
    if (turn !== undefined) await this.stop(turn);
  }

  async close(): Promise<void> {
    this.closing = true;
    const turns = [...this.turns.values()];
    for (const turn of turns) turn.stop.abort();
    await Promise.all(turns.map((turn) => turn.done));
  }
}
