/** Error responses of Studio: a status, and a `Refusal` with a code and a sentence, never a stack trace. */
import { controlStatusByCode } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { refuse as refuseOverHttp, type StatusByCode } from '@goondan/types/http';

/**
 * The HTTP status of each error code; every other code has the status 500. Error codes of the swarm have the same
 * status as on the control socket.
 */
const statusByCode: StatusByCode = {
  ...controlStatusByCode,
  E_STUDIO_REQUEST: 400,
  E_APPROVAL_BELOW_AGENT: 403,
  E_QUESTION_FORBIDDEN: 403,
  E_QUESTION_CHANGED: 409,
  E_QUESTION_ENDED: 409,
  E_QUESTION_REPLY: 400,
  E_QUESTION_UNKNOWN: 404,
  E_STUDIO_FORBIDDEN: 403,
  E_CHANGESET_UNKNOWN: 404,
  E_PROMPT_UNRECORDED: 404,
  E_TRACE_UNKNOWN: 404,
  E_WORKSPACE_UNKNOWN: 404,
  E_TRACE_AMBIGUOUS: 409,
  E_APPROVALS_FULL: 429,
  E_CONTROL_SILENT: 503,
  E_STUDIO_BUSY: 503,
  E_SWARM_STOPPED: 503,
};

/**
 * `report` is called with errors that have no code. Such an error may contain private data, so the client does not see
 * it.
 */
export function refuse(thrown: unknown, report: (error: unknown) => void): Response {
  if (!GoondanError.is(thrown)) report(thrown);
  const error = GoondanError.is(thrown) ? thrown : unforeseen();
  return refuseOverHttp(error, statusByCode);
}

function unforeseen(): GoondanError {
  return new GoondanError('E_STUDIO_FAILED', 'The request failed inside Studio.');
}
