// Every failure that a user can meet: its code, HTTP status, OpenAI error type and remedy. The native enum in
// native/include/hearth/error.h is checked against this table by a test. It words nothing for a screen: the page has its catalogue.
import { z } from 'zod';

interface ErrorInfo {
  status: number;
  /** The `type` of OpenAI's error object. */
  type:
    | 'invalid_request_error'
    | 'authentication_error'
    | 'permission_error'
    | 'not_found_error'
    | 'rate_limit_error'
    | 'server_error';
  /** What to do about it, in one plain sentence. */
  remedy: string;
}

const invalid = (status: number, remedy: string): ErrorInfo => ({ status, type: 'invalid_request_error', remedy });
const server = (status: number, remedy: string): ErrorInfo => ({ status, type: 'server_error', remedy });

export const ERRORS = {
  // Files and models. The first thirteen are the engine's (native ErrorCode).
  bad_file: invalid(422, 'Download the file again, or remove it.'),
  incomplete_model: invalid(422, 'Download the missing parts, or choose another model.'),
  unsupported_architecture: invalid(422, 'Choose a model of a supported family.'),
  unsupported_type: invalid(422, 'Choose another quantisation of this model.'),
  file_not_found: {
    status: 404,
    type: 'not_found_error',
    remedy: 'Check the path, or add the folder that holds the model.',
  },
  out_of_ram: server(507, 'Close other programs, choose a smaller model, or shorten the memory.'),
  out_of_vram: server(507, 'Close other programs, choose a smaller model, or run part of it on the processor.'),
  device_unavailable: server(503, 'Choose another device in the settings, or let models run on the processor.'),
  device_lost: server(503, 'Hearth restarts the model by itself; update the graphics driver if this happens again.'),
  context_length_exceeded: invalid(400, 'Shorten the text, start a new chat, or choose a model with a longer context.'),
  invalid_request: invalid(400, 'Correct the request and send it again.'),
  numeric_error: server(500, 'Load the model again; if it happens again, the file may be damaged.'),
  cancelled: { status: 499, type: 'invalid_request_error', remedy: 'Send the request again.' },
  internal: server(500, 'Try again; the log in the data directory has the details.'),
  // Serving.
  model_not_found: {
    status: 404,
    type: 'invalid_request_error',
    remedy: 'List the models with GET /v1/models and use one of their names.',
  },
  no_model: { status: 503, type: 'server_error', remedy: 'Load a model first.' },
  model_loading: { status: 503, type: 'server_error', remedy: 'Wait until the model has loaded and try again.' },
  runtime_crashed: server(503, 'The model is being started again; send the request once more.'),
  queue_full: { status: 429, type: 'rate_limit_error', remedy: 'Wait a moment and try again.' },
  unsupported_template: invalid(422, 'Use /v1/completions with your own prompt, or choose another model.'),
  unsupported_schema: invalid(400, 'Leave out the part of the schema that is named.'),
  unsupported_parameter: invalid(400, 'Leave the parameter out.'),
  payload_too_large: invalid(413, 'Send a smaller request.'),
  unsupported_media_type: invalid(415, 'Send JSON with content-type application/json.'),
  not_found: { status: 404, type: 'not_found_error', remedy: 'Check the address.' },
  method_not_allowed: { status: 405, type: 'invalid_request_error', remedy: 'Use the method that is named.' },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    remedy: 'Send a valid key in the Authorization header.',
  },
  forbidden_host: { status: 403, type: 'permission_error', remedy: 'Use http://127.0.0.1 or http://localhost.' },
  forbidden_origin: {
    status: 403,
    type: 'permission_error',
    remedy: 'Add the origin to the allowed ones in the settings.',
  },
  // Files from elsewhere.
  disk_full: server(507, 'Make space on that disk, then go on.'),
  offline: server(503, 'Turn offline mode off in the settings, or use what is on this machine.'),
  still_copying: server(503, 'Wait until all of it is there; nothing needs to be done.'),
  // Beyond this machine: the hub, downloads, remote engines.
  unreachable: server(502, 'Check the connection, the address and the proxy, then try again.'),
  hub_denied: {
    status: 403,
    type: 'permission_error',
    remedy: "Accept the terms on the model's page and enter a token in the settings.",
  },
  hub_failed: server(502, 'Try again later, or check the mirror and the proxy in the settings.'),
  unsafe_name: invalid(422, 'Choose another repository.'),
  checksum_mismatch: server(502, 'Fetch it again; if it happens again, the copy on the hub is damaged.'),
  remote_key_refused: server(502, 'Connect that computer again with the key that is right now.'),
  remote_failed: server(502, 'Try again; if it happens again, look at the log of that engine.'),
  // The app.
  port_in_use: server(503, 'Choose another port with --port.'),
  already_running: {
    status: 409,
    type: 'invalid_request_error',
    remedy: 'Use the Hearth that is already running, or another --data-dir.',
  },
  chat_busy: { status: 409, type: 'invalid_request_error', remedy: 'Stop the running answer first, or wait for it.' },
  database_error: server(500, 'Check that the disk is not full and that the data directory can be written.'),
  model_in_use: {
    status: 409,
    type: 'invalid_request_error',
    remedy: 'Unload the model first.',
  },
  not_owned: {
    status: 403,
    type: 'permission_error',
    remedy: 'Remove the file with the program that it belongs to, or remove its folder from the list.',
  },
  disk_error: server(500, 'Check that the disk is there and can be written, then try again.'),
  addon_missing: server(500, 'Build the engine with `npm start`, which does it by itself.'),
} as const satisfies Record<string, ErrorInfo>;

export type ErrorCode = keyof typeof ERRORS;
export const errorCodes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/** An error as it crosses a process. `needed` and `available` are bytes or tokens. */
export const errorShape = z.object({
  code: z.enum(errorCodes),
  message: z.string(),
  needed: z.number().optional(),
  available: z.number().optional(),
  /** The request's field that is at fault. */
  param: z.string().optional(),
  /** Id of the device whose failure it is. */
  device: z.string().optional(),
});
export type ErrorShape = z.infer<typeof errorShape>;

export class HearthError extends Error {
  readonly code: ErrorCode;
  readonly needed?: number;
  readonly available?: number;
  readonly param?: string;
  readonly device?: string;

  constructor(
    code: ErrorCode,
    message: string,
    detail: { needed?: number; available?: number; param?: string; device?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = 'HearthError';
    this.code = code;
    if (detail.needed) this.needed = detail.needed;
    if (detail.available) this.available = detail.available;
    if (detail.param !== undefined) this.param = detail.param;
    if (detail.device !== undefined) this.device = detail.device;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get remedy(): string {
    return ERRORS[this.code].remedy;
  }

  toShape(): ErrorShape {
    const { code, message, needed, available, param, device } = this;
    return {
      code,
      message,
      ...(needed && { needed }),
      ...(available && { available }),
      ...(param !== undefined && { param }),
      ...(device !== undefined && { device }),
    };
  }

  /** From anything thrown, also from another process or the addon (whose errors carry `code`). */
  static from(value: unknown): HearthError {
    if (value instanceof HearthError) return value;
    const parsed = errorShape.safeParse(value instanceof Error ? { ...value, message: value.message } : value);
    if (parsed.success) return new HearthError(parsed.data.code, parsed.data.message, { ...parsed.data, cause: value });
    return new HearthError('internal', value instanceof Error ? value.message : String(value), { cause: value });
  }
}
