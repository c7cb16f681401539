// A stand-in for a hub on loopback, good and bad: what it lists, what it sends, and how it misbehaves. It remembers what it was asked.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export const REPO = 'test/tiny-gguf';
export const COMMIT = '1'.repeat(40);

export interface Asked {
  path: string;
  range: string | undefined;
  authorization: string | undefined;
  /** Of the body. */
  sent: number;
}

/** What becomes of one request for a file; `count` begins at 1. Absent fields: as an honest hub does. */
export interface Misbehaviour {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Sends no byte at or after this position of the file, and cuts the connection there. */
  cutAt?: number;
  /** Sends nothing more from there on, and keeps the connection. */
  stallAt?: number;
  flip?: number[];
  ignoreRange?: boolean;
  /** Answers a range with everything from its beginning to the file's end. */
  ignoreRangeEnd?: boolean;
  shiftRange?: boolean;
  gzip?: boolean;
  etag?: string;
}

export type Behaviour = (
  count: number,
  asked: { path: string; start: number; end: number },
) => Misbehaviour | undefined;

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const gitBlob = (bytes: Buffer) => createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

export class FakeHub {
  readonly asked: Asked[] = [];
  readonly listed: { path: string; authorization: string | undefined }[] = [];
  files: Record<string, Buffer>;
  /** Names that are listed and have no content of their own. */
  evilNames: string[] = [];
  behaviour: Behaviour = () => undefined;
  /** Where files are redirected to, as a hub does with its store; `:PORT` of this server and another name. */
  cdn: string | undefined;
  gated = false;
  connections = 0;
  private readonly server: Server;
  private count = 0;

  constructor(files: Record<string, Buffer>) {
    this.files = files;
    this.server = createServer((request, response) => this.answer(request, response));
    this.server.on('connection', () => (this.connections += 1));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this.url;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Bytes of file bodies. */
  get sent(): number {
    return this.asked.reduce((sum, { sent }) => sum + sent, 0);
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '');
    const { authorization } = request.headers;
    if (path.startsWith('/api/models')) {
      this.listed.push({ path: request.url ?? '', authorization });
      if (path === '/api/models') return this.json(response, [this.info(false)]);
      if (!path.startsWith(`/api/models/${REPO}`)) return this.json(response, { error: 'Repository not found' }, 404);
      return this.json(response, this.info(true));
    }
    const file = new RegExp(`^/(?:cdn|${REPO}/resolve/[^/]+)/(.+)$`).exec(path)?.[1];
    const bytes = file === undefined ? undefined : this.files[file];
    if (file === undefined || !bytes) return this.json(response, { error: 'Entry not found' }, 404);
    if (this.gated && authorization === undefined) return this.json(response, { error: 'gated' }, 401);
    if (this.cdn !== undefined && !path.startsWith('/cdn/')) {
      this.asked.push({ path, range: request.headers.range, authorization, sent: 0 });
      return void response.writeHead(302, { location: `${this.cdn}/cdn/${file}` }).end();
    }
    this.file(request, response, file, bytes);
  }

  private info(withFiles: boolean): object {
    const siblings = Object.entries(this.files).map(([rfilename, bytes]) =>
      /\.(gguf|safetensors)$/.test(rfilename)
        ? { rfilename, size: bytes.length, lfs: { sha256: sha256(bytes), size: bytes.length, pointerSize: 134 } }
        : { rfilename, size: bytes.length, blobId: gitBlob(bytes) },
    );
    const evil = this.evilNames.map((rfilename) => ({ rfilename, size: 4, lfs: { sha256: 'a'.repeat(64), size: 4 } }));
    return {
      id: REPO,
      sha: COMMIT,
      gated: this.gated ? 'manual' : false,
      downloads: 5,
      likes: 2,
      lastModified: '2025-08-05T00:00:00.000Z',
      tags: ['gguf', 'license:apache-2.0'],
      gguf: { total: 1000, architecture: 'llama' },
      ...(withFiles && { siblings: [...siblings, ...evil] }),
    };
  }

  private json(response: ServerResponse, value: unknown, status = 200): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }

  private file(request: IncomingMessage, response: ServerResponse, path: string, original: Buffer): void {
    const { range, authorization } = request.headers;
    const asked: Asked = { path: request.url ?? '', range, authorization, sent: 0 };
    this.asked.push(asked);
    const found = /^bytes=(\d+)-(\d*)$/.exec(range ?? '');
    let start = Number(found?.[1] ?? 0);
    let end = found?.[2] ? Math.min(original.length, Number(found[2]) + 1) : original.length;
    const bad = this.behaviour(++this.count, { path, start, end }) ?? {};
    if (bad.status !== undefined || bad.body !== undefined) {
      return void response.writeHead(bad.status ?? 200, bad.headers).end(bad.body ?? '');
    }
    const ranged = found !== null && !bad.ignoreRange;
    if (!ranged) [start, end] = [0, original.length];
    if (bad.ignoreRangeEnd) end = original.length;
    if (bad.shiftRange) start = Math.min(end - 1, start + 1);
    if (start >= original.length) {
      return void response.writeHead(416, { 'content-range': `bytes */${original.length}` }).end();
    }
    const bytes = Buffer.from(original);
    for (const position of bad.flip ?? []) bytes[position] = (bytes[position] ?? 0) ^ 1;
    const part = bytes.subarray(start, end);
    const headers: Record<string, string> = {
      'content-type': 'application/octet-stream',
      etag: bad.etag ?? `"${sha256(original)}"`,
      ...(ranged && { 'content-range': `bytes ${start}-${end - 1}/${original.length}` }),
      ...bad.headers,
    };
    if (bad.gzip) {
      const packed = gzipSync(part);
      asked.sent += packed.length;
      return void response.writeHead(ranged ? 206 : 200, { ...headers, 'content-encoding': 'gzip' }).end(packed);
    }
    response.writeHead(ranged ? 206 : 200, { ...headers, 'content-length': String(part.length) });
    const stop = Math.min(bad.cutAt ?? Infinity, bad.stallAt ?? Infinity);
    this.pour(response, asked, part.subarray(0, Math.max(0, Math.min(part.length, stop - start))), () => {
      if (bad.cutAt !== undefined && bad.cutAt < end) response.destroy();
      else if (bad.stallAt === undefined || bad.stallAt >= end) response.end();
    });
  }

  private pour(response: ServerResponse, asked: Asked, bytes: Buffer, done: () => void): void {
    let at = 0;
    const next = () => {
      if (response.destroyed) return;
      if (at >= bytes.length) return done();
      const piece = bytes.subarray(at, (at += 65_536));
      response.write(piece, () => {
        asked.sent += piece.length;
        next();
      });
    };
    next();
  }
}
