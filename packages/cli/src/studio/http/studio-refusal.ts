/** How Studio says no: a status, and a `Refusal` with a code and a sentence. Never a stack. */
import { controlStatusByCode } from '@goondan/runtime/internal';
import { type ErrorCode, GoondanError, type GoondanErrorOptions } from '@goondan/types';
import type { Refusal } from '../contract.ts';

/** A refusal whose status its code alone does not tell. */
export class StudioRefusal extends GoondanError {
  constructor(
    readonly status: number,
    code: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    options: GoondanErrorOptions = {},
  ) {
    super(code, message, options);
  }
}

/** Code → HTTP status; 500 for every other. What the swarm refuses is refused alike. */
const statusByCode: typeof controlStatusByCode = {
  ...controlStatusByCode,
  E_STUDIO_REQUEST: 400,
  E_APPROVAL_BELOW_AGENT: 403,
  E_STUDIO_FORBIDDEN: 403,
  E_TRACE_UNKNOWN: 404,
  E_WORKSPACE_UNKNOWN: 404,
  E_TRACE_AMBIGUOUS: 409,
  E_APPROVALS_FULL: 429,
  E_CONTROL_SILENT: 503,
  E_STUDIO_BUSY: 503,
  E_SWARM_STOPPED: 503,
};

/** `report` hears of what has no code: it may quote anything, so whoever asked is not told. */
export function refuse(thrown: unknown, report: (error: unknown) => void): Response {
  if (!(thrown instanceof GoondanError)) report(thrown);
  const error = thrown instanceof GoondanError ? thrown : unforeseen();
  const { code, message, suggestion } = error;
  const own = error instanceof StudioRefusal ? error : undefined;
  const status = own?.status ?? statusByCode[code] ?? 500;
  const retry = status === 429 || status === 503 ? { 'Retry-After': '1' } : {};
  const body: Refusal = { error: { code, message, suggestion } };
  return Response.json(body, { status, headers: { ...retry, ...own?.headers } });
}

function unforeseen(): GoondanError {
  return new GoondanError('E_STUDIO_FAILED', 'The request failed inside Studio.');
}
