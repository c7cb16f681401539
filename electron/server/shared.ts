// What another Hearth may ask while models are shared: the list, and the bytes of a file of it, by ranges. A file is named by the id of its
// model and its number there; one that changed since it was listed is not sent.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { HearthError } from '../contract/errors';
import { SHARED } from '../contract/routes';
import type { ShelfFile } from '../library/sharing/shelf';
import type { SharedThings } from './types';

interface ByNumber {
  Params: { id: string; index: string };
}

/** `bytes=FIRST-` or `bytes=FIRST-LAST`; undefined: everything. One that begins after the end is refused as such. */
export function rangeOf(
  header: string | undefined,
  bytes: number,
): { start: number; end: number } | undefined | 'unsatisfiable' {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined) return undefined;
  const start = Number(first);
  const end = last ? Math.min(bytes, Number(last) + 1) : bytes;
  if (start >= bytes) return 'unsatisfiable';
  return end > start ? { start, end } : undefined;
}

export function sharedRoutes(app: FastifyInstance, { shelf, key }: SharedThings): void {
  const config = { access: 'share', network: true } as const;
  const whileShared = () => {
    if (!key.on) throw new HearthError('not_found', 'No models are shared here.');
  };
  app.get(SHARED.models, { config }, async () => {
    whileShared();
    return { models: await shelf.models() };
  });
  app.get<ByNumber>(SHARED.file, { config }, async (request, reply) => {
    whileShared();
    const { id, index } = request.params;
    const file = await shelf.file(id, /^\d{1,6}$/.test(index) ? Number(index) : -1);
    await unchanged(file);
    return send(file, request.headers.range, request.headers['if-range'], reply);
  });
}

async function unchanged({ place, bytes, mtimeMs }: ShelfFile): Promise<void> {
  const now = await stat(place).catch(() => undefined);
  if (now?.isFile() && now.size === bytes && now.mtimeMs === mtimeMs) return;
  throw new HearthError('not_found', 'There is no such file here, or it is another one by now.');
}

function send({ place, bytes, sha256 }: ShelfFile, range: string | undefined, ifRange: unknown, reply: FastifyReply) {
  const etag = `"${sha256}"`;
  const asked = ifRange === undefined || ifRange === etag ? rangeOf(range, bytes) : undefined;
  reply.headers({ etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-transform' });
  reply.type('application/octet-stream');
  if (asked === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes}`).send('');
  const { start, end } = asked ?? { start: 0, end: bytes };
  if (asked) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${bytes}`);
  reply.header('content-length', end - start);
  if (bytes === 0) return reply.send('');
  return reply.send(createReadStream(place, { start, end: end - 1, highWaterMark: 256 * 1024 }));
}
