// A test double of the own API (electron/contract): the built page, chats in memory, turns by script. Not a model, and never part of the app.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  AppState,
  Chat,
  ChatSettings,
  Message,
  ModelEntry,
  Settings,
  TurnRequest,
} from '../../../electron/contract/own';
import { makeModels, makeState } from './data';
import { StubLibrary } from './library';
import { fail, reply } from './reply';
import { scriptFor } from './script';
import { runTurn, type Turn } from './turns';

const TOKEN = 'stub-token-0123456789';
const ROOT = fileURLToPath(new URL('../../../dist/renderer', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export interface Stub {
  url: string;
  /** With the key in it. */
  entry: string;
  state: AppState;
  models: ModelEntry[];
  settings: Settings;
  library: StubLibrary;
  chats: Map<string, Chat & { messages: Message[]; turn?: string }>;
  addChat: (title: string, messages: Partial<Message>[], updatedAt?: number) => string;
  changed: () => void;
  close: () => Promise<void>;
}

export async function startStub(): Promise<Stub> {
  const stub = new StubServer();
  return stub.start();
}

class StubServer {
  #ids = 0;
  #turns = new Map<string, Turn>();
  #watchers = new Set<ServerResponse>();
  #chats: Stub['chats'] = new Map();
  #settings: Settings = {
    language: 'auto',
    theme: 'auto',
    chat: { answerLength: 'unlimited', creativity: 'balanced', memory: 'all', effort: 'medium', instructions: '' },
    allowedOrigins: [],
    offline: false,
    hubMirror: '',
    proxy: '',
    hubTokenSet: false,
    modelFolders: [],
    aliases: {},
    idleUnloadMinutes: 0,
    device: 'auto',
    gpuRequired: false,
  };
  #models = makeModels();
  #state = makeState();
  #library = new StubLibrary({
    state: this.#state,
    models: this.#models,
    settings: this.#settings,
    changed: () => this.#changed(),
    running: () => this.#state.running,
  });
  #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<Stub> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return {
      url,
      entry: `${url}/#token=${TOKEN}`,
      state: this.#state,
      models: this.#models,
      settings: this.#settings,
      library: this.#library,
      chats: this.#chats,
      addChat: (title, messages, updatedAt) => this.#addChat(title, messages, updatedAt),
      changed: () => this.#changed(),
      close: () =>
        new Promise((resolve) => {
          this.#server.close(() => resolve());
          this.#server.closeAllConnections();
        }),
    };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://stub');
    if (!url.pathname.startsWith('/hearth/v1/')) return serveFile(url.pathname, response);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return fail(response, 401, 'invalid_api_key');
    const [section = '', id = '', verb = ''] = url.pathname.slice('/hearth/v1/'.length).split('/');
    const body = await bodyOf(request);
    const method = request.method ?? 'GET';
    if (section === 'devices') return reply(response, 200, { devices: this.#state.devices, notes: [] });
    if (section === 'state') return id === 'events' ? this.#watch(response) : reply(response, 200, this.#state);
    if (this.#library.answer(request, url, body, response)) return;
    if (section === 'settings') {
      const { hubToken, ...patch } = body;
      if (method === 'PATCH')
        Object.assign(this.#settings, patch, hubToken !== undefined && { hubTokenSet: !!hubToken });
      return reply(response, 200, this.#settings);
    }
    if (section === 'turns') return this.#turn(id, verb, Number(url.searchParams.get('cursor') ?? 0), response);
    if (section === 'chats') return this.#chat(method, id, verb, url.searchParams.get('q') ?? '', body, response);
    return fail(response, 404, 'not_found');
  }

  #watch(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${this.#told()}\n\n`);
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
  }

  /** `loaded` begins with the one in front, as the real one says it. */
  #told(): string {
    const { active, running, waiting } = this.#state;
    const here = active?.state === 'ready' || active?.state === 'unloading';
    this.#state.loaded = here ? [{ ...active, running, waiting }] : [];
    return JSON.stringify(this.#state);
  }

  #changed(): void {
    const told = this.#told();
    for (const watcher of this.#watchers) watcher.write(`data: ${told}\n\n`);
  }

  #turn(id: string, verb: string, cursor: number, response: ServerResponse): void {
    const turn = this.#turns.get(id);
    if (!turn) return fail(response, 404, 'not_found');
    if (verb === 'stop') {
      turn.stop();
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let at = cursor;
    const write = (): void => {
      for (; at < turn.events.length; at++) response.write(`id: ${at}\ndata: ${JSON.stringify(turn.events[at])}\n\n`);
      if (turn.done) response.end();
    };
    turn.listeners.add(write);
    response.on('close', () => turn.listeners.delete(write));
    write();
  }

  #chat(
    method: string,
    id: string,
    verb: string,
    q: string,
    body: Record<string, unknown>,
    response: ServerResponse,
  ): void {
    if (!id) {
      if (method === 'POST') return reply(response, 201, this.#newChat((body.settings as Partial<ChatSettings>) ?? {}));
      return reply(response, 200, { chats: this.#list(q) });
    }
    const chat = this.#chats.get(id);
    if (!chat) return fail(response, 404, 'not_found');
    if (verb === 'turns') return this.#startTurn(chat, body as TurnRequest, response);
    if (verb === 'restore') {
      chat.deletedAt = null;
      return reply(response, 200, chat);
    }
    if (method === 'DELETE') {
      chat.deletedAt = Date.now();
      response.writeHead(204).end();
      return;
    }
    if (method === 'PATCH') {
      const { settings, ...rest } = body;
      Object.assign(chat, rest);
      Object.assign(chat.settings, settings);
    }
    return chat.deletedAt ? fail(response, 404, 'not_found') : reply(response, 200, chat);
  }

  #list(q: string): Chat[] {
    const has = (text: string): boolean => text.toLowerCase().includes(q.toLowerCase());
    return [...this.#chats.values()]
      .filter((chat) => !chat.deletedAt && (has(chat.title) || chat.messages.some((message) => has(message.text))))
      .map(({ messages: _, turn: __, ...chat }) => chat);
  }

  #newChat(settings: Partial<ChatSettings>): Chat & { messages: Message[] } {
    const now = Date.now();
    const chat = {
      id: `chat${++this.#ids}`,
      title: '',
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
      headId: null,
      settings: { ...this.#settings.chat, ...settings },
      date: '2026-11-29',
      messages: [],
    };
    this.#chats.set(chat.id, chat);
    return chat;
  }

  #addChat(title: string, messages: Partial<Message>[], updatedAt = Date.now()): string {
    const chat = this.#newChat({});
    const stored = this.#chats.get(chat.id);
    if (!stored) return chat.id;
    for (const partial of messages) {
      const message = { ...this.#message(chat.id, stored.headId, partial.role ?? 'user', 'complete'), ...partial };
      stored.messages.push(message);
      stored.headId = message.id;
    }
    Object.assign(stored, { title, updatedAt });
    return chat.id;
  }

  #message(chatId: string, parentId: string | null, role: Message['role'], status: Message['status']): Message {
    return { id: `m${++this.#ids}`, chatId, parentId, role, text: '', reasoning: '', status, createdAt: Date.now() };
  }

  #startTurn(
    chat: Chat & { messages: Message[]; turn?: string },
    request: TurnRequest,
    response: ServerResponse,
  ): void {
    if (chat.turn) return fail(response, 409, 'chat_busy');
    let user: Message | undefined;
    if ('regenerate' in request) user = chat.messages.find((message) => message.id === request.regenerate);
    else {
      const parentId = request.parentId === undefined ? chat.headId : request.parentId;
      user = { ...this.#message(chat.id, parentId, 'user', 'complete'), text: request.text };
      chat.messages.push(user);
    }
    if (!user) return fail(response, 404, 'not_found');
    const assistant = this.#message(chat.id, user.id, 'assistant', 'streaming');
    chat.messages.push(assistant);
    const turnId = `turn${++this.#ids}`;
    Object.assign(chat, { headId: assistant.id, turn: turnId, updatedAt: Date.now() });
    chat.title ||= user.text.slice(0, 40);
    const started = { turn: turnId, user: { ...user }, assistant: { ...assistant } };
    this.#state.running++;
    this.#turns.set(
      turnId,
      runTurn(turnId, assistant, scriptFor(user.text), () => this.#ended(chat)),
    );
    this.#changed();
    return reply(response, 201, started);
  }

  #ended(chat: { turn?: string; updatedAt: number }): void {
    delete chat.turn;
    chat.updatedAt = Date.now();
    this.#state.running--;
    this.#state.requestsServed++;
    this.#changed();
  }
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text ? (JSON.parse(text) as Record<string, unknown>) : {};
}

async function serveFile(pathname: string, response: ServerResponse): Promise<void> {
  const name = normalize(pathname === '/' ? '/index.html' : pathname);
  try {
    const data = await readFile(join(ROOT, name));
    response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(data);
  } catch {
    response.writeHead(404).end();
  }
}
