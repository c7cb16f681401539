// The stub's turns: an event log per turn that any page follows from any cursor, written at a script's pace.
import type { Message, TurnEvent } from '../../../electron/contract/own';
import type { Script } from './script';

export interface Turn {
  id: string;
  chatId: string;
  events: TurnEvent[];
  listeners: Set<() => void>;
  done: boolean;
  stop: () => void;
}

export function runTurn(id: string, message: Message, script: Script, onEnd: (message: Message) => void): Turn {
  let stopped = false;
  const turn: Turn = {
    id,
    chatId: message.chatId,
    events: [],
    listeners: new Set(),
    done: false,
    stop: () => (stopped = true),
  };
  const emit = (event: TurnEvent): void => {
    turn.events.push(event);
    if (event.kind === 'end') turn.done = true;
    for (const listener of turn.listeners) listener();
  };
  const { pace = 8, piece = 6, promptTokens = 24 } = script;
  const work = async (): Promise<void> => {
    const began = Date.now();
    if (script.loadingMs) {
      emit({ kind: 'waiting', reason: 'loading', ahead: 0 });
      await pause(script.loadingMs);
    }
    emit({ kind: 'start', promptTokens, droppedTurns: 0 });
    for (let done = 0; promptTokens > 100 && done < promptTokens && !stopped; done += 60) {
      emit({ kind: 'prefill', done, total: promptTokens, cached: 120 });
      await pause(80);
    }
    const first = Date.now();
    for (const kind of ['reasoning', 'text'] as const) {
      const text = script[kind] ?? '';
      for (let at = 0; at < text.length && !stopped; at += piece) {
        const delta = text.slice(at, at + piece);
        message[kind] += delta;
        emit({ kind, delta });
        await pause(pace);
      }
    }
    emit({ kind: 'end', message: finish(message, script, stopped, first - began, Date.now() - first) });
    onEnd(message);
  };
  void work();
  return turn;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function finish(message: Message, script: Script, stopped: boolean, ttftMs: number, decodeMs: number): Message {
  const reasoningTokens = Math.ceil(message.reasoning.length / 4);
  const completionTokens = reasoningTokens + Math.ceil(message.text.length / 4);
  message.status = script.fail ? 'error' : stopped ? 'stopped' : 'complete';
  message.finishReason = script.fail ? 'error' : stopped ? 'cancelled' : 'stop';
  if (script.fail) message.error = script.fail as Message['error'];
  message.usage = { promptTokens: script.promptTokens ?? 24, completionTokens, reasoningTokens, cachedTokens: 0 };
  message.timings = {
    queueMs: 0,
    prefillMs: ttftMs,
    ttftMs: ttftMs + 40,
    decodeMs,
    prefillTps: 310,
    decodeTps: (completionTokens * 1000) / Math.max(1, decodeMs),
  };
  message.receipt = {
    model: 'gpt-oss-20b-mxfp4',
    modelId: '9f2c66a1e0b84c1d93d1aa07c5a8f3e2b1d4c6978f00112233445566778899aa',
    engineBuild: '0.0.1+stub',
    mesh: 'cpu/avx512 fast',
    requestId: `req_${message.id}`,
    seed: 421337,
    temperature: 1,
    effort: 'medium',
    date: '2026-11-29',
    droppedTurns: 0,
  };
  return message;
}
