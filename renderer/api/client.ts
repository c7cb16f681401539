// Asks the own API and gives plain data or an ApiError. Knows neither React nor any state but the key.
import type { ErrorCode, ErrorShape } from '@contract/errors';
import type {
  Chat,
  ChatPatch,
  ChatSettings,
  ChatWithMessages,
  Settings,
  SettingsPatch,
  TurnRequest,
  TurnStarted,
} from '@contract/own';
import { ROUTES } from '@contract/routes';
import { token } from './token';

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly shape: ErrorShape;
  /** 0: no answer at all. */
  readonly status: number;

  constructor(shape: ErrorShape, status: number) {
    super(shape.message);
    this.name = 'ApiError';
    this.code = shape.code;
    this.shape = shape;
    this.status = status;
  }
}

export function path(route: string, id?: string): string {
  return id === undefined ? route : route.replace(':id', encodeURIComponent(id));
}

/** Throws ApiError; the connection's own failure has status 0. */
export async function ask(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${token() ?? ''}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit' };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError({ code: 'internal', message: 'no answer' }, 0);
  }
  if (!response.ok) throw new ApiError(await errorOf(response), response.status);
  return response;
}

async function errorOf(response: Response): Promise<ErrorShape> {
  const fallback: ErrorShape = { code: codeOfStatus(response.status), message: response.statusText };
  try {
    const body = (await response.json()) as { error?: Partial<ErrorShape> } | null;
    const error = body?.error;
    if (typeof error?.code !== 'string') return fallback;
    return { ...fallback, ...error, code: error.code, message: String(error.message ?? '') };
  } catch {
    return fallback;
  }
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 401) return 'invalid_api_key';
  if (status === 403) return 'forbidden_host';
  if (status === 404) return 'not_found';
  if (status === 413) return 'payload_too_large';
  return 'internal';
}

export async function json<T>(method: string, url: string, body?: unknown): Promise<T> {
  return (await (await ask(method, url, body)).json()) as T;
}

export async function done(method: string, url: string, body?: unknown): Promise<void> {
  await ask(method, url, body);
}

export const api = {
  settings: (): Promise<Settings> => json('GET', ROUTES.settings),
  patchSettings: (patch: SettingsPatch): Promise<Settings> => json('PATCH', ROUTES.settings, patch),

  chats: async (query: string): Promise<Chat[]> => {
    const url = query ? `${ROUTES.chats}?${new URLSearchParams({ q: query }).toString()}` : ROUTES.chats;
    return (await json<{ chats: Chat[] }>('GET', url)).chats;
  },
  chat: (id: string): Promise<ChatWithMessages> => json('GET', path(ROUTES.chat, id)),
  createChat: (settings?: Partial<ChatSettings>): Promise<Chat> =>
    json('POST', ROUTES.chats, settings ? { settings } : {}),
  patchChat: (id: string, patch: ChatPatch): Promise<Chat> => json('PATCH', path(ROUTES.chat, id), patch),
  deleteChat: (id: string): Promise<void> => done('DELETE', path(ROUTES.chat, id)),
  restoreChat: (id: string): Promise<Chat> => json('POST', path(ROUTES.chatRestore, id), {}),

  startTurn: (chat: string, request: TurnRequest): Promise<TurnStarted> =>
    json('POST', path(ROUTES.chatTurns, chat), request),
  stopTurn: (turn: string): Promise<void> => done('POST', path(ROUTES.turnStop, turn), {}),
};
