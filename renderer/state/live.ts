// Answers being written now. Events gather outside React; the store is written once per frame. Rows read only their own message.
import type { TurnEvent } from '@contract/own';
import { ROUTES } from '@contract/routes';
import { create } from 'zustand';
import { type ApiError, path } from '../api/client';
import { follow } from '../api/streams';
import { FrameGate } from './frame';
import { applyEvents, beginning, type LiveAnswer } from './turnEvents';

interface LiveStore {
  /** By message id. */
  answers: Record<string, LiveAnswer>;
  /** How long each answer was thought about, in ms, while this page saw it. */
  thoughtMs: Record<string, number>;
  /** Chats in which an answer is being written, as far as this page follows it. */
  writing: Record<string, true>;
  /** Turns whose stop has been asked for. */
  stopping: Record<string, true>;
}

export const useLive = create<LiveStore>(() => ({ answers: {}, thoughtMs: {}, writing: {}, stopping: {} }));

interface Attached {
  chatId: string;
  messageId: string;
  turn: string;
  answer: LiveAnswer;
  queue: TurnEvent[];
}

export interface LiveHooks {
  onTitle: (chatId: string, title: string) => void;
  onEnd: (chatId: string, answer: LiveAnswer) => void;
  onGone: (chatId: string, error: ApiError) => void;
}

const attached = new Map<string, Attached>();
/** Turns whose end has been seen: a slower answer about their chat may still name them. */
const ended = new Set<string>();

export const hasEnded = (turn: string): boolean => ended.has(turn);
let hooks: LiveHooks | undefined;

export function setLiveHooks(value: LiveHooks): void {
  hooks = value;
}

const gate = new FrameGate(flush);

/** Shows a turn from its first event on, also after a reload or in a second window. Attaching twice is one attachment. */
export function attachTurn(chatId: string, turn: string, messageId: string, soFar = ''): void {
  if (attached.has(turn) || ended.has(turn)) return;
  const entry: Attached = { chatId, messageId, turn, answer: beginning, queue: [] };
  attached.set(turn, entry);
  useLive.setState(({ writing }) => ({ writing: { ...writing, [chatId]: true } }));
  setAnswer(messageId, { ...beginning, text: soFar, phase: soFar ? 'writing' : 'begin' });
  void follow({
    url: (cursor) => `${path(ROUTES.turnEvents, turn)}?cursor=${cursor}`,
    ordered: true,
    signal: new AbortController().signal,
    onEvent: (data) => {
      const event = data as TurnEvent | undefined;
      if (!event?.kind) return false;
      entry.queue.push(event);
      gate.request();
      return event.kind === 'end';
    },
    onRefused: (error) => {
      detach(entry);
      hooks?.onGone(chatId, error);
    },
  });
}

export const turnOf = (messageId: string): string | undefined =>
  [...attached.values()].find((entry) => entry.messageId === messageId)?.turn;

function flush(): void {
  const now = performance.now();
  const answers = { ...useLive.getState().answers };
  const finished: Attached[] = [];
  for (const entry of attached.values()) {
    if (entry.queue.length === 0) continue;
    const titleBefore = entry.answer.title;
    entry.answer = applyEvents(entry.answer, entry.queue.splice(0), now);
    answers[entry.messageId] = entry.answer;
    if (entry.answer.title && entry.answer.title !== titleBefore) hooks?.onTitle(entry.chatId, entry.answer.title);
    if (entry.answer.end) finished.push(entry);
  }
  useLive.setState({ answers });
  for (const entry of finished) {
    // The finished message first, then the live one goes: the row never shows neither.
    hooks?.onEnd(entry.chatId, entry.answer);
    detach(entry);
  }
}

function detach(entry: Attached): void {
  attached.delete(entry.turn);
  ended.add(entry.turn);
  useLive.setState(({ answers, thoughtMs, writing, stopping }) => {
    const { [entry.messageId]: gone, ...others } = answers;
    const { [entry.turn]: _, ...stillStopping } = stopping;
    const { [entry.chatId]: __, ...stillWriting } = writing;
    const ms = gone?.thoughtMs;
    return {
      answers: others,
      stopping: stillStopping,
      writing: stillWriting,
      thoughtMs: ms === undefined ? thoughtMs : { ...thoughtMs, [entry.messageId]: ms },
    };
  });
}

function setAnswer(messageId: string, answer: LiveAnswer): void {
  useLive.setState(({ answers }) => ({ answers: { ...answers, [messageId]: answer } }));
}
