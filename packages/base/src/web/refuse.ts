/** Error responses of a connector over HTTP. */
import { type ErrorCode, GoondanError } from '@goondan/types';
import {
  headersOf as headersBy,
  refuse as refuseBy,
  sharedStatuses,
  type StatusByCode,
  statusOf as statusBy,
  statusOfCode as statusOfCodeBy,
} from '@goondan/types/http';

/** HTTP statuses by error code of the swarm. Every other code has the status 500. */
const statuses: StatusByCode = {
  ...sharedStatuses,
  E_CONNECTOR_EVENT: 400,
  E_TURN_FORGOTTEN: 410,
  E_INGRESS_KEY: 422,
  E_INGRESS_RULE: 422,
  E_INSTANCE_KEY: 422,
  E_QUESTION_CHANGED: 409,
  E_QUESTION_ENDED: 409,
  E_QUESTION_FORBIDDEN: 403,
  E_QUESTION_REPLY: 422,
  E_QUESTION_UNKNOWN: 404,
  E_IPC_FULL: 429,
  E_IPC_CLOSED: 503,
  E_SWARM_STOPPED: 503,
};

export const statusOf = (error: GoondanError): number => statusBy(error, statuses);
export const headersOf = (error: GoondanError): Record<string, string> => headersBy(error, statuses);
export const refuse = (error: GoondanError): Response => refuseBy(error, statuses);

/** The advice of a connector to its clients, by code. The catalogue speaks to people who have `gdn`. */
export type Advice = { readonly [Code in ErrorCode]?: string };

export const FORBIDDEN_ADVICE =
  'Only the client whose request began the turn may answer, if the Connection has `answersQuestions: true`.';

export function suggestionOf({ code, suggestion }: GoondanError, advice: Advice): string {
  return (Object.hasOwn(advice, code) ? advice[code] : undefined) ?? suggestion;
}

/** Like `refuse`, with the advice of this connector. */
export function refuseWith(error: GoondanError, advice: Advice): Response {
  const { code, message } = error;
  return refuseBy(error, statuses, { error: { code, message, suggestion: suggestionOf(error, advice) } });
}

/** Returns the HTTP status for any code: a turn may fail with the code of a tool or a provider. */
export function statusOfCode(code: string | undefined): number {
  return statusOfCodeBy(code, statuses);
}

/** Replaces an error without a code: its message may contain anything and must not reach the client. */
export function toCoded(thrown: unknown): GoondanError {
  if (GoondanError.is(thrown)) return thrown;
  return new GoondanError('E_CONNECTOR_ENDED', 'The connector failed to answer; its log has the reason.');
}
