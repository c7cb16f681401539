// The bytes of one file of the hub, by ranges. It distrusts every answer: status, range, length, encoding and kind are checked before a byte
// is handed on. It keeps the address that the hub led to, so that not every range asks the hub itself.
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HearthError } from '../../contract/errors';
import type { Network, NetworkAnswer } from '../network';
import { refusal } from '../hub/client';
import { BrokenAnswer, BusyAnswer, FileChanged, type FileSource, type SourceAnswer, type WantedFile } from './types';

export interface HubSourceOptions {
  network: Network;
  repo: string;
  file: WantedFile;
  /** For the ledger. Another Hearth never leads elsewhere: its answers are not followed. */
  purpose: 'download' | 'lan_import';
  /** Of the file on the hub, and what may be sent there. */
  url(): string;
  bearer(): string | undefined;
  /** Whether the hub still describes the file as before: asked where an answer makes one doubt it. */
  unchanged(signal: AbortSignal): Promise<boolean>;
}

/** How long an address that the hub led to is used without asking again. Signed ones live longer. */
const DIRECT_MS = 10 * 60_000;

/** Seconds, or a date. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** `bytes 0-99/1000`; an unknown total is undefined. */
export function contentRange(header: string | undefined): { start: number; end: number; total?: number } | undefined {
  const found = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(header?.trim() ?? '');
  if (!found) return undefined;
  const [, start, last, total] = found;
  return { start: Number(start), end: Number(last) + 1, ...(total !== '*' && { total: Number(total) }) };
}

const UNPACKERS: Record<string, () => NodeJS.ReadWriteStream> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export class HubSource implements FileSource {
  private direct: { url: string; at: number } | undefined;
  private etag: string | undefined;
  /** Somebody on the way answers ranges in a way that cannot be used. */
  private withoutRanges = false;

  constructor(private readonly options: HubSourceOptions) {}

  async open(start: number, end: number, signal: AbortSignal): Promise<SourceAnswer> {
    const answer = await this.ask(start, end, signal);
    try {
      return await this.judged(answer, start, signal);
    } catch (error) {
      answer.body.destroy();
      throw error;
    }
  }

  private async ask(start: number, end: number, signal: AbortSignal): Promise<NetworkAnswer> {
    const { network, repo, file, purpose, bearer: bearerOf } = this.options;
    const fresh = this.direct && Date.now() - this.direct.at < DIRECT_MS ? this.direct.url : undefined;
    const url = fresh ?? this.options.url();
    // The key is for the hub; where it led to is somebody else.
    const bearer = fresh === undefined ? bearerOf() : undefined;
    const answer = await network.open({
      url,
      purpose,
      ...(purpose === 'lan_import' && { redirects: false }),
      detail: `${repo}/${file.path}`,
      signal,
      ...(bearer !== undefined && { bearer }),
      headers: this.withoutRanges
        ? {}
        : { range: `bytes=${start}-${end - 1}`, ...(this.etag !== undefined && { 'if-range': this.etag }) },
    });
    if (fresh !== undefined && [400, 401, 403, 404, 410].includes(answer.status)) {
      // A signed address that has run out.
      answer.body.destroy();
      this.direct = undefined;
      return this.ask(start, end, signal);
    }
    const elsewhere = answer.url.origin !== new URL(this.options.url()).origin;
    if (fresh === undefined) this.direct = elsewhere ? { url: answer.url.href, at: Date.now() } : undefined;
    return answer;
  }

  private async judged(answer: NetworkAnswer, start: number, signal: AbortSignal): Promise<SourceAnswer> {
    const { status, headers } = answer;
    // Another Hearth asks for a file by its state: where it has that no more, it has another one, or none.
    const gone = status === 404 && this.options.purpose === 'lan_import';
    if (gone) throw await this.doubt('it is not there any more', signal);
    if (status === 416) throw await this.doubt('the hub says that the file is shorter', signal);
    if (status !== 200 && status !== 206) throw this.refused(answer);
    if (/^text\/html\b/i.test(headers['content-type'] ?? '') && !/\.html?$/i.test(this.options.file.path)) {
      throw new BrokenAnswer(`${answer.url.host} sent a page instead of the file`);
    }
    if (this.etag !== undefined && headers.etag !== undefined && headers.etag !== this.etag) {
      throw await this.doubt('the hub says that the file is another one', signal);
    }
    // A weak tag says nothing about bytes.
    if (headers.etag !== undefined && !headers.etag.startsWith('W/')) this.etag = headers.etag;
    return status === 206 ? this.ranged(answer, start, signal) : this.whole(answer, start, signal);
  }

  private async ranged(answer: NetworkAnswer, start: number, signal: AbortSignal): Promise<SourceAnswer> {
    const { headers, body } = answer;
    if (packing(answer) !== undefined) {
      // The range is one of the packed bytes: of no use. The whole can be unpacked.
      this.withoutRanges = true;
      throw new BrokenAnswer(`${answer.url.host} packs the file on the way`);
    }
    const range = contentRange(headers['content-range']);
    if (range?.total !== undefined && range.total !== this.options.file.bytes) {
      throw await this.doubt('the file has another length', signal);
    }
    if (!range || range.start !== start || range.end <= start) {
      this.withoutRanges = true;
      throw new BrokenAnswer(`${answer.url.host} sent another part of the file than was asked for`);
    }
    const bytes = body as AsyncIterable<Uint8Array>;
    return { bytes, until: range.end, sequential: false, end: () => body.destroy() };
  }

  private async whole(answer: NetworkAnswer, start: number, signal: AbortSignal): Promise<SourceAnswer> {
    const { headers, body } = answer;
    const packed = packing(answer);
    const length = headers['content-length'];
    if (packed === undefined && length !== undefined && Number(length) !== this.options.file.bytes) {
      throw await this.doubt('the file has another length', signal);
    }
    this.withoutRanges = true;
    const unpack = packed === undefined ? undefined : UNPACKERS[packed];
    if (packed !== undefined && !unpack) throw new BrokenAnswer(`${answer.url.host} packs the file in an unknown way`);
    const bytes = unpack ? unpacked(answer, unpack()) : (body as AsyncIterable<Uint8Array>);
    const until = this.options.file.bytes;
    return { bytes: without(bytes, start), until, sequential: true, end: () => body.destroy() };
  }

  private refused(answer: NetworkAnswer): Error {
    const { status, headers, url } = answer;
    if (status === 429 || status === 503) {
      return new BusyAnswer(`${url.host} asks to wait`, retryAfterMs(headers['retry-after'], Date.now()));
    }
    if (status >= 500 || status === 408) return new BrokenAnswer(`${url.host} answered with status ${status}`);
    const { purpose, repo, file } = this.options;
    if (purpose === 'lan_import' && (status === 401 || status === 403))
      return new HearthError('remote_key_refused', `${url.host} does not take this key.`);
    return refusal(answer, `${repo}/${file.path}`);
  }

  /** An answer does not fit: either the file has changed, or this was a bad answer, or only its tag is another one. */
  private async doubt(why: string, signal: AbortSignal): Promise<Error> {
    this.etag = undefined;
    this.direct = undefined;
    return (await this.options.unchanged(signal)) ? new BrokenAnswer(why) : new FileChanged(why);
  }
}

function packing({ headers }: NetworkAnswer): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  return encoding === undefined || encoding === '' || encoding === 'identity' ? undefined : encoding;
}

function unpacked({ body }: NetworkAnswer, unpack: NodeJS.ReadWriteStream): AsyncIterable<Uint8Array> {
  body.on('error', (error) => unpack.emit('error', error));
  body.on('aborted', () => unpack.emit('error', new Error('the answer was cut')));
  return body.pipe(unpack) as unknown as AsyncIterable<Uint8Array>;
}

/** The bytes after the first `count`. */
async function* without(bytes: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const piece of bytes) {
    const skipped = Math.min(left, piece.length);
    left -= skipped;
    // An empty piece says that the answer goes on.
    yield piece.subarray(skipped);
  }
}
