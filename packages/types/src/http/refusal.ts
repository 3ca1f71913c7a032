/** Error responses over HTTP: a status and `{ "error": { code, message, suggestion } }`, never a stack trace. */
import type { ErrorCode } from '../errors/error-catalogue.ts';
import { GoondanError } from '../errors/goondan-error.ts';

/** An error response with its own status, for errors whose code alone does not determine the status. */
export class Refusal extends GoondanError {
  constructor(
    readonly status: number,
    code: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, message, { retryable: status === 429 });
  }
}

/** Creates the error for a rejected body; each server uses its own codes. */
export type RefuseBody = (
  status: 400 | 408 | 413 | 415,
  message: string,
  headers?: Readonly<Record<string, string>>,
) => Error;

/** The HTTP status for each code. */
export type StatusByCode = { readonly [Code in ErrorCode]?: number };

/** The statuses of codes that mean the same in every server. Each server adds the statuses of its own codes. */
export const sharedStatuses: StatusByCode = {
  E_EVENT_INVALID: 400,
  E_FILE_INVALID: 400,
  E_FILE_UNKNOWN: 400,
  E_FILE_SIZE: 413,
  E_OUTPUT_INVALID: 400,
  E_CANCELLED: 409,
  E_DEAD_LETTER: 409,
  E_CALLS_FULL: 429,
  E_INBOX_FULL: 429,
  E_OUTBOX_FULL: 429,
  E_PROCESSES_FULL: 429,
  E_AGENT_CLOSED: 503,
  E_AGENT_START: 503,
  E_DISK_FULL: 507,
};

const DEFAULT_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 86_400_000;

/** Returns the HTTP status for an error; 500 for a code that has none. */
export function statusOf(error: GoondanError, statuses: StatusByCode): number {
  return error instanceof Refusal ? error.status : statusOfCode(error.code, statuses);
}

/**
 * Returns the HTTP status for any code. Some codes come from foreign code, so a code such as `constructor` must not
 * find an inherited property of the table.
 */
export function statusOfCode(code: string | undefined, statuses: StatusByCode): number {
  // The cast is safe: the code is a key of the table.
  return code !== undefined && Object.hasOwn(statuses, code) ? (statuses[code as ErrorCode] ?? 500) : 500;
}

export function headersOf(error: GoondanError, statuses: StatusByCode): Record<string, string> {
  const status = statusOf(error, statuses);
  const retry = status === 429 || status === 503 ? retryAfter(error) : {};
  return { ...retry, ...(error instanceof Refusal ? error.headers : {}) };
}

/** Creates the response for an error. Pass `body` for protocols that need another JSON shape. */
export function refuse(error: GoondanError, statuses: StatusByCode, body: object = errorBody(error)): Response {
  return Response.json(body, { status: statusOf(error, statuses), headers: headersOf(error, statuses) });
}

export function errorBody({ code, message, suggestion }: GoondanError) {
  return { error: { code, message, suggestion } };
}

function retryAfter({ retryAfterMs = DEFAULT_RETRY_MS }: GoondanError): Record<string, string> {
  // Foreign code may put any number into this field.
  const ms = Number.isFinite(retryAfterMs) ? Math.min(retryAfterMs, LONGEST_RETRY_MS) : DEFAULT_RETRY_MS;
  return { 'Retry-After': String(Math.max(1, Math.ceil(ms / 1_000))) };
}
