// The name of one request, in headers, logs and receipts; OpenAI's answers carry it under their own prefixes.
import { randomUUID } from 'node:crypto';

const PREFIX = 'req_';

export const newRequestId = (): string => `${PREFIX}${randomUUID().replaceAll('-', '')}`;

/** `chatcmpl-…`, `cmpl-…`: the id of an answer, from that of its request. */
export const answerId = (prefix: string, requestId: string): string => `${prefix}-${requestId.slice(PREFIX.length)}`;
