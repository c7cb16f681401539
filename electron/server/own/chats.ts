// Chats: list, search, create, change, delete and take back.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { HearthError } from '../../contract/errors';
import { chatPatch, chatSettings, createChat, type Chat } from '../../contract/own';
import { ROUTES } from '../../contract/routes';
import type { ServerContext } from '../context';
import { isoDate } from '../dates';
import type { Turns } from '../turns/turns';
import { parse } from '../validate';

const query = z.object({ q: z.string().optional(), deleted: z.enum(['0', '1']).optional() });

export type IdParams = { Params: { id: string } };

/** `chatSettings.partial()` fills defaults in for what was not sent; only what was sent may change. */
function sentSettings(body: unknown): Record<string, unknown> {
  return ((body as { settings?: Record<string, unknown> } | undefined)?.settings ?? {}) as Record<string, unknown>;
}

function newChat(body: unknown, context: ServerContext): Chat {
  const { title = '' } = parse(createChat, body ?? {});
  const now = Date.now();
  return {
    id: randomUUID(),
    title,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    headId: null,
    settings: chatSettings.parse({ ...context.settings().chat, ...sentSettings(body) }),
    date: isoDate(new Date()),
  };
}

export function chatRoutes(app: FastifyInstance, context: ServerContext, turns: Turns): void {
  const { store } = context;
  const existing = async (id: string): Promise<Chat> => {
    const chat = await store.getChat(id);
    if (!chat) throw new HearthError('not_found', 'There is no such chat.');
    return chat;
  };

  app.get(ROUTES.chats, async (request) => {
    const { q, deleted } = parse(query, request.query);
    return { chats: await store.listChats({ ...(q !== undefined && { query: q }), deleted: deleted === '1' }) };
  });
  app.post(ROUTES.chats, async (request, reply) =>
    reply.code(201).send(await store.createChat(newChat(request.body, context))),
  );
  app.get<IdParams>(ROUTES.chat, async ({ params }) => {
    const chat = await existing(params.id);
    return turns.withTurn(chat, await store.messages(chat.id));
  });
  app.patch<IdParams>(ROUTES.chat, async ({ params, body }) => {
    const { settings: _, ...patch } = parse(chatPatch, body);
    const chat = await existing(params.id);
    const settings = chatSettings.parse({ ...chat.settings, ...sentSettings(body) });
    return store.patchChat(chat.id, { ...patch, settings });
  });
  app.delete<IdParams>(ROUTES.chat, async ({ params }, reply) => {
    const chat = await existing(params.id);
    await turns.stopChat(chat.id);
    await store.trashChat(chat.id, Date.now());
    return reply.code(204).send();
  });
  app.post<IdParams>(ROUTES.chatRestore, async ({ params }) => store.restoreChat((await existing(params.id)).id));
}
