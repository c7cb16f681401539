// JSON bodies from bytes, with bounds: size is Fastify's, encoding, depth and syntax are checked here before anything is built.
import type { FastifyInstance } from 'fastify';
import { HearthError } from '../contract/errors';

/** No schema that a client sends in earnest comes near it. */
export const MAX_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Deepest nesting of arrays and objects in JSON text; brackets within strings do not count. Linear, without recursion. */
export function nesting(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return deepest;
}

/** A key that would become somebody's prototype when it is copied, also in escaped spelling. */
const SUSPICIOUS = /__proto__|\\u005f/i;
const withoutPrototype = (key: string, value: unknown) => (key === '__proto__' ? undefined : value);

export function parseJson(bytes: Uint8Array): unknown {
  if (nesting(bytes) > MAX_DEPTH) {
    throw new HearthError('invalid_request', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HearthError('invalid_request', 'The body is not valid UTF-8.');
  }
  try {
    return SUSPICIOUS.test(text) ? JSON.parse(text, withoutPrototype) : JSON.parse(text);
  } catch (error) {
    // The parser's own words may quote the body; they say where, and that is enough.
    const where = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw new HearthError('invalid_request', `The body is not valid JSON${where ? ` (at ${where})` : ''}.`);
  }
}

/** Takes JSON alone; every other content type is refused by name. An empty body is `undefined`. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/([\w.+-]+\+)?json\b/i, { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, body.length === 0 ? undefined : parseJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(new HearthError('unsupported_media_type', 'The body must be JSON, with content-type application/json.'));
  });
}
