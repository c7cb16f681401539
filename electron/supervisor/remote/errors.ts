// Failures of engines elsewhere in Hearth's words. Pure. What an engine says is shortened and cleaned before anybody sees it, and never
// holds the key, even where the engine sends it back.
import { z } from 'zod';
import { HearthError, type ErrorCode } from '../../contract/errors';

const said = z.looseObject({
  message: z.string().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).nullish().catch(undefined),
  type: z.string().nullish().catch(undefined),
});
/** OpenAI's { error: { message } }, vLLM's older { message }, FastAPI's { detail }. */
const body = z.looseObject({
  error: z.union([said, z.string()]).optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  detail: z.string().optional().catch(undefined),
});

const MOST_WORDS = 300;

export function cleaned(text: string, key?: string): string {
  const hidden = key ? text.replaceAll(key, '***') : text;
  const plain = hidden.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return plain.length > MOST_WORDS ? `${plain.slice(0, MOST_WORDS)}…` : plain;
}

interface Said {
  message: string;
  code: string;
}

function saidIn(answer: unknown, key?: string): Said {
  const parsed = body.safeParse(answer);
  if (!parsed.success) return { message: '', code: '' };
  const { error, message, detail } = parsed.data;
  const inner = typeof error === 'object' ? error : undefined;
  const words = inner?.message ?? (typeof error === 'string' ? error : undefined) ?? message ?? detail ?? '';
  return { message: cleaned(words, key), code: String(inner?.code ?? '') };
}

const CONTEXT = /context.{0,20}length|maximum context|context_length|too many tokens|longer than the maximum/i;

const quoted = (words: string) => (words === '' ? '.' : `: ${words}`);

/** An answer with a status that is no success. */
export function errorOfStatus(status: number, answer: unknown, engine: string, key?: string): HearthError {
  const { message, code } = saidIn(answer, key);
  const error = (known: ErrorCode, words: string) => new HearthError(known, `${engine} ${words}${quoted(message)}`);
  if (status >= 300 && status < 400) return error('remote_failed', 'lives at another address now; enter that one');
  switch (status) {
    case 401:
    case 403:
      return error('remote_key_refused', 'refused the key');
    case 404:
      return error('model_not_found', 'does not have this model any more');
    case 408:
    case 504:
      return error('unreachable', 'took too long');
    case 413:
      return error('payload_too_large', 'finds the request too large');
    case 429:
      return error('queue_full', 'has too much to do');
  }
  if (status >= 500) return error('remote_failed', `failed (status ${status})`);
  if (CONTEXT.test(code) || CONTEXT.test(message)) return error('context_length_exceeded', 'finds the text too long');
  return error('invalid_request', 'refused the request');
}

/** An error in the middle of a stream. */
export function errorInAnswer(answer: unknown, key?: string): HearthError {
  const { message, code } = saidIn(answer, key);
  const tooLong = CONTEXT.test(code) || CONTEXT.test(message);
  return new HearthError(tooLong ? 'context_length_exceeded' : 'remote_failed', `The engine failed${quoted(message)}`);
}
