/** How a connector says no over HTTP: `{ "error": { code, message, suggestion } }`, never a stack. */
import { type ErrorCode, GoondanError } from '@goondan/types';

/** A refusal of the server itself. */
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

/** Code of what the swarm says → status; 500 for every other. */
const statusByCode: { readonly [Code in ErrorCode]?: number } = {
  E_CONNECTOR_EVENT: 400,
  E_EVENT_INVALID: 400,
  E_CANCELLED: 409,
  E_DEAD_LETTER: 409,
  E_TURN_FORGOTTEN: 410,
  E_INGRESS_KEY: 422,
  E_INGRESS_RULE: 422,
  E_INSTANCE_KEY: 422,
  E_CALLS_FULL: 429,
  E_INBOX_FULL: 429,
  E_IPC_FULL: 429,
  E_OUTBOX_FULL: 429,
  E_PROCESSES_FULL: 429,
  E_AGENT_CLOSED: 503,
  E_AGENT_START: 503,
  E_IPC_CLOSED: 503,
  E_SWARM_STOPPED: 503,
  E_DISK_FULL: 507,
};

const RETRY_MS = 1_000;

export function statusOf(error: GoondanError): number {
  return error instanceof Refusal ? error.status : statusOfCode(error.code);
}

/** Of any code: that of a failed turn may be a tool's or a provider's own. */
export function statusOfCode(code: string | undefined): number {
  // A code that is not in the table has no status there.
  return statusByCode[code as ErrorCode] ?? 500;
}

export function headersOf(error: GoondanError): Record<string, string> {
  const status = statusOf(error);
  const retry = status === 429 || status === 503 ? retryAfter(error.retryAfterMs) : {};
  return { ...retry, ...(error instanceof Refusal ? error.headers : {}) };
}

function retryAfter(ms = RETRY_MS): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, Math.ceil(ms / 1_000))) };
}

export function errorBody({ code, message, suggestion }: GoondanError) {
  return { error: { code, message, suggestion } };
}

export function refuse(error: GoondanError): Response {
  return Response.json(errorBody(error), { status: statusOf(error), headers: headersOf(error) });
}
