// Chats and messages in the database: synchronous calls, made in the worker thread alone.
import { HearthError } from '../contract/errors';
import { chatSettings, type Chat, type ChatPatch, type Message } from '../contract/own';
import type { Db } from './migrate';
import {
  fold,
  fromJson,
  packTokens,
  partsOf,
  textOf,
  toChat,
  toJson,
  toMessage,
  type ChatRow,
  type MessageRow,
  type TextPart,
} from './rows';
import { transaction } from './transaction';
import type { BeginTurn, ChatFilter, MessageDelta } from './types';

const MAX_QUERY = 200;
/** The trigram index knows nothing shorter. */
const MIN_INDEXED = 3;

interface GrowthRow {
  message_row: number;
  parts: string;
  token_ids: Uint8Array;
}

const notFound = (what: string, id: string) => new HearthError('not_found', `There is no ${what} ${id.slice(0, 60)}.`);
const likePattern = (words: string) => `%${words.replace(/[\\%_]/g, '\\$&')}%`;
const phrase = (words: string) => `"${words.replaceAll('"', '""')}"`;

export class Chats {
  constructor(private readonly db: Db) {}

  list({ query, deleted = false }: ChatFilter = {}): Chat[] {
    const state = deleted ? 'deleted_at IS NOT NULL' : 'deleted_at IS NULL';
    const words = query?.trim().slice(0, MAX_QUERY) ?? '';
    const found = words === '' ? '' : `AND (title LIKE ? ESCAPE '\\' OR id IN (${this.searchSql(words)}))`;
    const statement = this.db.prepare(`SELECT * FROM chats WHERE ${state} ${found} ORDER BY updated_at DESC, id`);
    const rows = words === '' ? statement.all() : statement.all(likePattern(words), this.searchArgument(words));
    return (rows as ChatRow[]).map(toChat);
  }

  private searchSql(words: string): string {
    const condition = [...words].length < MIN_INDEXED ? `text LIKE ? ESCAPE '\\'` : 'message_text MATCH ?';
    return `SELECT chat_id FROM messages WHERE row IN (SELECT rowid FROM message_text WHERE ${condition})`;
  }

  private searchArgument(words: string): string {
    return [...words].length < MIN_INDEXED ? likePattern(words) : phrase(words);
  }

  create(chat: Chat): Chat {
    this.db
      .prepare(
        'INSERT INTO chats (id, title, created_at, updated_at, deleted_at, head_id, settings, date) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(
        chat.id,
        chat.title,
        chat.createdAt,
        chat.updatedAt,
        chat.deletedAt,
        chat.headId,
        JSON.stringify(chat.settings),
        chat.date,
      );
    return chat;
  }

  get(id: string): Chat | undefined {
    const row = this.db.prepare('SELECT * FROM chats WHERE id = ?').get(id) as ChatRow | undefined;
    return row && toChat(row);
  }

  private existing(id: string): Chat {
    const chat = this.get(id);
    if (!chat) throw notFound('chat', id);
    return chat;
  }

  patch(id: string, patch: ChatPatch): Chat {
    const chat = this.existing(id);
    if (patch.headId !== undefined) this.inChat(id, patch.headId);
    const settings = chatSettings.parse({ ...chat.settings, ...patch.settings });
    this.db
      .prepare('UPDATE chats SET title = ?, head_id = ?, settings = ? WHERE id = ?')
      .run(patch.title ?? chat.title, patch.headId ?? chat.headId, JSON.stringify(settings), id);
    return this.existing(id);
  }

  private inChat(chatId: string, messageId: string): void {
    const found = this.db.prepare('SELECT 1 FROM messages WHERE id = ? AND chat_id = ?').get(messageId, chatId);
    if (found === undefined) throw notFound('message', messageId);
  }

  messages(chatId: string): Message[] {
    const rows = this.db.prepare('SELECT * FROM messages WHERE chat_id = ? ORDER BY row').all(chatId) as MessageRow[];
    return rows.map((row) => toMessage(row, row.status === 'streaming' ? this.growth(row.row).parts : []));
  }

  private growth(row: number): MessageDelta {
    const rows = this.db.prepare('SELECT * FROM growth WHERE message_row = ? ORDER BY seq').all(row) as GrowthRow[];
    return {
      parts: rows.flatMap((entry) => fromJson<MessageDelta['parts']>(entry.parts) ?? []),
      tokenIds: rows.flatMap((entry) => [...entry.token_ids]),
    };
  }

  trash(id: string, at: number): void {
    this.existing(id);
    this.db.prepare('UPDATE chats SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL').run(at, id);
  }

  restore(id: string): Chat {
    this.existing(id);
    this.db.prepare('UPDATE chats SET deleted_at = NULL WHERE id = ?').run(id);
    return this.existing(id);
  }

  purge(before: number): number {
    return this.db.prepare('DELETE FROM chats WHERE deleted_at < ?').run(before).changes;
  }

  beginTurn({ chatId, user, assistant, title, at }: BeginTurn): void {
    transaction(this.db, () => {
      this.existing(chatId);
      for (const message of user ? [user, assistant] : [assistant]) {
        if (message.parentId !== null) this.inChat(chatId, message.parentId);
        this.insert(message);
      }
      this.db
        .prepare('UPDATE chats SET head_id = ?, updated_at = ?, title = coalesce(?, title) WHERE id = ?')
        .run(assistant.id, at, title ?? null, chatId);
    });
  }

  private insert(message: Message): void {
    const { lastInsertRowid } = this.db
      .prepare(
        'INSERT INTO messages (id, chat_id, parent_id, role, parts, token_ids, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(
        message.id,
        message.chatId,
        message.parentId,
        message.role,
        JSON.stringify(partsOf(message, [])),
        new Uint8Array(),
        message.status,
        message.createdAt,
      );
    if (message.status !== 'streaming') this.index(Number(lastInsertRowid), message.text);
  }

  private index(row: number, text: string): void {
    this.db.prepare('DELETE FROM message_text WHERE rowid = ?').run(row);
    if (text !== '') this.db.prepare('INSERT INTO message_text (rowid, text) VALUES (?, ?)').run(row, text);
  }

  append(messageId: string, delta: MessageDelta): void {
    const found = this.db.prepare(`SELECT row FROM messages WHERE id = ? AND status = 'streaming'`).get(messageId);
    // The chat may be gone for good, or the answer finished: nothing is owed to a late delta.
    if (found === undefined) return;
    const { row } = found as { row: number };
    this.db
      .prepare('INSERT INTO growth SELECT ?, coalesce(max(seq), 0) + 1, ?, ? FROM growth WHERE message_row = ?')
      .run(row, JSON.stringify(delta.parts), packTokens(delta.tokenIds), row);
  }

  finish(message: Message): void {
    transaction(this.db, () => {
      const row = this.db.prepare('SELECT * FROM messages WHERE id = ?').get(message.id) as MessageRow | undefined;
      if (!row) return;
      this.settle(row, message, (grown) => partsOf(message, grown));
    });
  }

  private settle(row: MessageRow, message: Message, parts: (grown: TextPart[]) => TextPart[]): void {
    const growth = this.growth(row.row);
    const settled = parts(fold(fromJson<TextPart[]>(row.parts) ?? [], growth.parts));
    this.db
      .prepare(
        `UPDATE messages SET parts = ?, token_ids = ?, status = ?, finish_reason = ?, error = ?, usage = ?, timings = ?, receipt = ?
         WHERE row = ?`,
      )
      .run(
        JSON.stringify(settled),
        Uint8Array.from(growth.tokenIds),
        message.status,
        message.finishReason ?? null,
        toJson(message.error),
        toJson(message.usage),
        toJson(message.timings),
        toJson(message.receipt),
        row.row,
      );
    this.db.prepare('DELETE FROM growth WHERE message_row = ?').run(row.row);
    this.index(row.row, textOf(settled, 'text'));
  }

  /** Answers that no process is writing any more: what was written stays, marked as interrupted. Gives how many. */
  markInterrupted(): number {
    const rows = this.db.prepare(`SELECT * FROM messages WHERE status = 'streaming'`).all() as MessageRow[];
    transaction(this.db, () => {
      for (const row of rows) {
        const message: Message = { ...toMessage(row, []), status: 'interrupted' };
        this.settle(row, message, (grown) => grown);
      }
    });
    return rows.length;
  }
}
