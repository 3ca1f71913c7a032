/** Refusals over HTTP: a status and `{ "error": { code, message, suggestion } }`, never a stack. */
import type { ErrorCode } from '../errors/error-catalogue.ts';
import { GoondanError } from '../errors/goondan-error.ts';

/** A refusal by the server itself, with a status that does not follow from its code. */
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

/** Makes the refusal of a body; each server has its own codes. */
export type RefuseBody = (
  status: 400 | 408 | 413 | 415,
  message: string,
  headers?: Readonly<Record<string, string>>,
) => Error;

/** Code → HTTP status. */
export type StatusByCode = { readonly [Code in ErrorCode]?: number };

/** Codes that mean the same to every server; each adds its own. */
export const sharedStatuses: StatusByCode = {
  E_EVENT_INVALID: 400,
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

/** Returns the status for an error; 500 for a code without one. */
export function statusOf(error: GoondanError, statuses: StatusByCode): number {
  return error instanceof Refusal ? error.status : (statuses[error.code] ?? 500);
}

export function headersOf(error: GoondanError, statuses: StatusByCode): Record<string, string> {
  const status = statusOf(error, statuses);
  const retry = status === 429 || status === 503 ? retryAfter(error) : {};
  return { ...retry, ...(error instanceof Refusal ? error.headers : {}) };
}

/** Makes the response of a refusal. `body` is for protocols with another shape. */
export function refuse(error: GoondanError, statuses: StatusByCode, body: object = errorBody(error)): Response {
  return Response.json(body, { status: statusOf(error, statuses), headers: headersOf(error, statuses) });
}

export function errorBody({ code, message, suggestion }: GoondanError) {
  return { error: { code, message, suggestion } };
}

function retryAfter({ retryAfterMs = DEFAULT_RETRY_MS }: GoondanError): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
}
