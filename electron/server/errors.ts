// Failures as the two answers they get: OpenAI's error object under /v1 and everywhere else, the contract's shape under /hearth/v1.
// Pure functions; what a failure is called and which status it has is the contract's.
import { ERRORS, HearthError, type ErrorShape } from '../contract/errors';

export interface OpenAiError {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** Tokens for the context, bytes for all else: memory and files. */
function amount(code: HearthError['code'], value: number): string {
  if (code === 'context_length_exceeded') return `${value} tokens`;
  if (value < 1024 ** 2) return `${value} bytes`;
  return value < 1024 ** 3 ? `${(value / 1024 ** 2).toFixed(1)} MiB` : `${(value / 1024 ** 3).toFixed(1)} GiB`;
}

/** Numbers that the sentence does not hold yet. */
function numbers({ code, message, needed, available }: HearthError): string {
  if (needed === undefined || available === undefined || /\d{2,}.*\d{2,}/s.test(message)) return '';
  return `${amount(code, needed)} needed, ${amount(code, available)} available`;
}

/** The remedy of a request that is wrong is in its message already: it names the field. */
const SELF_EXPLAINING = new Set(['invalid_request', 'cancelled', 'not_found', 'method_not_allowed']);

/** Messages about files often end in what to do: "…; download it again". */
function saysRemedy({ message, remedy }: HearthError): boolean {
  const verb = remedy.split(' ', 1)[0]?.toLowerCase() ?? '';
  return message.toLowerCase().includes(`; ${verb} `);
}

/** The sentence for a client that sees nothing but the message. */
export function sentence(error: HearthError): string {
  const text = error.message.replace(/[.\s]+$/, '');
  const known = numbers(error);
  // A question keeps its mark; what follows is a sentence of its own.
  const words = /[?!]$/.test(text) ? `${text}${known && ` (${known}.)`}` : `${text}${known && ` (${known})`}.`;
  return SELF_EXPLAINING.has(error.code) || saysRemedy(error) ? words : `${words} ${error.remedy}`;
}

export function openAiError(error: HearthError): OpenAiError {
  return {
    error: {
      message: sentence(error),
      type: ERRORS[error.code].type,
      param: error.param ?? null,
      code: error.code === 'invalid_request' ? null : error.code,
    },
  };
}

export function ownError(error: HearthError): { error: ErrorShape } {
  return { error: error.toShape() };
}

/** Seconds after which the same request may succeed; absent where waiting does not help. */
export function retryAfter(error: HearthError): string | undefined {
  return error.status === 429 || error.status === 503 ? '2' : undefined;
}

const TRANSPORT: Record<string, (message: string) => HearthError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new HearthError('payload_too_large', `The request is larger than ${MAX_BODY_BYTES / 1024 ** 2} MiB.`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new HearthError('unsupported_media_type', 'The body must be JSON and say so in content-type.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new HearthError('invalid_request', 'The body is empty; JSON is expected.'),
  FST_ERR_BAD_URL: () => new HearthError('invalid_request', 'The address is malformed.'),
};

export const MAX_BODY_BYTES = 16 * 1024 ** 2;

/** From whatever a handler or the HTTP library threw. Unknown failures keep their words for the log and out of the answer. */
export function fromThrown(thrown: unknown): HearthError {
  if (thrown instanceof HearthError) return thrown;
  const { code, statusCode, message } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown; message?: unknown };
  const known = typeof code === 'string' ? TRANSPORT[code] : undefined;
  if (known) return known(String(message));
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new HearthError('invalid_request', typeof message === 'string' ? message : 'The request is malformed.');
  }
  const typed = HearthError.from(thrown);
  if (typed.code !== 'internal') return typed;
  return new HearthError('internal', 'Something went wrong inside Hearth.', { cause: thrown });
}
