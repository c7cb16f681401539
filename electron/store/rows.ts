// Between rows and the contract's shapes, as pure functions. What a newer or older Hearth wrote into a JSON column never
// throws here: an unreadable detail is left out, an unreadable setting is the default.
import { chatSettings, type Chat, type Message, type Receipt } from '../contract/own';
import type { FinishReason } from '../contract/chat';
import type { MessageDelta } from './types';

export interface TextPart {
  channel: 'reasoning' | 'text';
  text: string;
}

export interface ChatRow {
  id: string;
  title: string;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  head_id: string | null;
  settings: string;
  date: string;
}

export interface MessageRow {
  row: number;
  id: string;
  chat_id: string;
  parent_id: string | null;
  role: 'user' | 'assistant';
  parts: string;
  token_ids: Uint8Array;
  status: Message['status'];
  finish_reason: string | null;
  error: string | null;
  usage: string | null;
  timings: string | null;
  receipt: string | null;
  created_at: number;
}

export function fromJson<T>(text: string | null): T | undefined {
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

export const toJson = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

export function toChat(row: ChatRow): Chat {
  const settings = chatSettings.safeParse(fromJson(row.settings));
  return {
    id: row.id,
    title: row.title,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
    headId: row.head_id,
    settings: settings.success ? settings.data : chatSettings.parse({}),
    date: row.date,
  };
}

/** Adds deltas to parts; neighbours of one channel become one. */
export function fold(parts: readonly TextPart[], deltas: readonly MessageDelta['parts'][number][]): TextPart[] {
  const folded = parts.map((part) => ({ ...part }));
  for (const { channel, delta } of deltas) {
    const last = folded.at(-1);
    if (last?.channel === channel) last.text += delta;
    else if (delta !== '') folded.push({ channel, text: delta });
  }
  return folded;
}

export function textOf(parts: readonly TextPart[], channel: TextPart['channel']): string {
  return parts
    .filter((part) => part.channel === channel)
    .map((part) => part.text)
    .join('');
}

/** The parts of a finished message: the order in which they grew, where that gives the message's text. */
export function partsOf(message: Message, grown: readonly TextPart[]): TextPart[] {
  if (textOf(grown, 'text') === message.text && textOf(grown, 'reasoning') === message.reasoning) return [...grown];
  return fold(
    [],
    [
      { channel: 'reasoning', delta: message.reasoning },
      { channel: 'text', delta: message.text },
    ],
  );
}

export function toMessage(row: MessageRow, grown: readonly MessageDelta['parts'][number][]): Message {
  const parts = fold(fromJson<TextPart[]>(row.parts) ?? [], grown);
  const details = {
    finishReason: (row.finish_reason ?? undefined) as FinishReason | undefined,
    error: fromJson<Message['error']>(row.error),
    usage: fromJson<Message['usage']>(row.usage),
    timings: fromJson<Message['timings']>(row.timings),
    receipt: fromJson<Receipt>(row.receipt),
  };
  return {
    id: row.id,
    chatId: row.chat_id,
    parentId: row.parent_id,
    role: row.role,
    text: textOf(parts, 'text'),
    reasoning: textOf(parts, 'reasoning'),
    status: row.status,
    ...Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined)),
    createdAt: row.created_at,
  };
}

export function packTokens(ids: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(ids.length * 4);
  const view = new DataView(bytes.buffer);
  ids.forEach((id, index) => view.setUint32(index * 4, id, true));
  return bytes;
}
