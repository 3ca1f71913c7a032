/** How a refusal looks on the wire: `{ "error": { code, message, suggestion } }`, never a stack. */
import { type ErrorCode, GoondanError } from '@goondan/types';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { ControlHost } from './control-host.ts';

/** A refusal of the socket itself, whose status its code alone does not tell. */
export class ControlRefusal extends GoondanError {
  constructor(
    readonly status: number,
    code: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, message);
  }
}

/** Code → HTTP status; 500 for every other. */
export const controlStatusByCode: { readonly [Code in ErrorCode]?: number } = {
  E_AGENT_REQUEST: 400,
  E_CONTROL_REQUEST: 400,
  E_EVENT_INVALID: 400,
  E_INSTANCE_KEY: 400,
  E_AGENT_UNKNOWN: 404,
  E_CONTROL_ENDPOINT: 404,
  E_CONTROL_VERSION: 404,
  E_HISTORY_RANGE: 404,
  E_INSTANCE_UNKNOWN: 404,
  E_CANCELLED: 409,
  E_DEAD_LETTER: 409,
  E_FENCED: 409,
  E_INSTANCE_DELETED: 409,
  E_INSTANCE_EXISTS: 409,
  E_INSTANCE_PENDING: 409,
  E_LOCKED: 409,
  E_CALLS_FULL: 429,
  E_CONTROL_FULL: 429,
  E_INBOX_FULL: 429,
  E_OUTBOX_FULL: 429,
  E_PROCESSES_FULL: 429,
  E_AGENT_CLOSED: 503,
  E_AGENT_START: 503,
  E_CONTROL_CLOSED: 503,
  E_DISK_FULL: 507,
};

const DEFAULT_RETRY_MS = 1_000;

export function refuse(error: GoondanError): Response {
  const refusal = error instanceof ControlRefusal ? error : undefined;
  const status = refusal?.status ?? controlStatusByCode[error.code] ?? 500;
  const headers = { ...(status === 429 ? retryAfter(error) : {}), ...refusal?.headers };
  return Response.json(errorBody(error), { status, headers });
}

export function errorBody(error: GoondanError): { readonly error: FrameError } {
  return { error: { ...toFrameError(error, 'E_CONTROL_FAILED'), suggestion: error.suggestion } };
}

/** An error without a code may quote anything, so it goes to the log and not to whoever asked. */
export function codedError({ report }: Pick<ControlHost, 'report'>, thrown: unknown, what: string): GoondanError {
  if (thrown instanceof GoondanError) return thrown;
  report(thrown, what);
  return new GoondanError('E_CONTROL_FAILED', `${what} failed inside the orchestrator.`);
}

function retryAfter({ retryAfterMs = DEFAULT_RETRY_MS }: GoondanError): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
}
