/** Formats an error for the client: `{ "error": { code, message, suggestion } }`, never a stack. */
import { GoondanError } from '@goondan/types';
import { refuse as refuseOverHttp, sharedStatuses, type StatusByCode } from '@goondan/types/http';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { ControlHost } from './control-host.ts';

/** HTTP status by code; 500 for every other code. */
export const controlStatusByCode: StatusByCode = {
  ...sharedStatuses,
  E_AGENT_REQUEST: 400,
  E_CONTROL_REQUEST: 400,
  E_INSTANCE_KEY: 400,
  E_QUESTION_REPLY: 400,
  E_CLUSTER_TOKEN: 401,
  E_QUESTION_FORBIDDEN: 403,
  E_AGENT_UNKNOWN: 404,
  E_CONTROL_ENDPOINT: 404,
  E_CONTROL_VERSION: 404,
  E_HISTORY_RANGE: 404,
  E_INSTANCE_UNKNOWN: 404,
  E_QUESTION_UNKNOWN: 404,
  E_FENCED: 409,
  E_INSTANCE_DELETED: 409,
  E_INSTANCE_EXISTS: 409,
  E_INSTANCE_PENDING: 409,
  E_LOCKED: 409,
  E_QUESTION_CHANGED: 409,
  E_QUESTION_ENDED: 409,
  E_TRACE_AMBIGUOUS: 409,
  E_CONTROL_FULL: 429,
  E_CONTROL_CLOSED: 503,
  E_STORE_AWAY: 503,
  E_SWARM_STOPPED: 503,
};

export function refuse(error: GoondanError): Response {
  return refuseOverHttp(error, controlStatusByCode, errorBody(error));
}

export function errorBody(error: GoondanError): { readonly error: FrameError } {
  return { error: { ...toFrameError(error, 'E_CONTROL_FAILED'), suggestion: error.suggestion } };
}

/**
 * Returns an error that has a code unchanged. An error without a code may contain anything, so it goes to the log, and
 * the client gets a general error.
 */
export function codedError({ report }: Pick<ControlHost, 'report'>, thrown: unknown, what: string): GoondanError {
  if (GoondanError.is(thrown)) return thrown;
  report(thrown, what);
  return new GoondanError('E_CONTROL_FAILED', `${what} failed inside the orchestrator.`);
}
