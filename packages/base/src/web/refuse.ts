/** Refusals of a connector over HTTP. */
import { type ErrorCode, GoondanError } from '@goondan/types';
import {
  headersOf as headersBy,
  refuse as refuseBy,
  sharedStatuses,
  type StatusByCode,
  statusOf as statusBy,
} from '@goondan/types/http';

/** Code of the swarm → status; 500 for every other. */
const statuses: StatusByCode = {
  ...sharedStatuses,
  E_CONNECTOR_EVENT: 400,
  E_TURN_FORGOTTEN: 410,
  E_INGRESS_KEY: 422,
  E_INGRESS_RULE: 422,
  E_INSTANCE_KEY: 422,
  E_IPC_FULL: 429,
  E_IPC_CLOSED: 503,
  E_SWARM_STOPPED: 503,
};

export const statusOf = (error: GoondanError): number => statusBy(error, statuses);
export const headersOf = (error: GoondanError): Record<string, string> => headersBy(error, statuses);
export const refuse = (error: GoondanError): Response => refuseBy(error, statuses);

/** Takes any code: that of a failed turn may come from a tool or a provider. */
export function statusOfCode(code: string | undefined): number {
  // A code that is not in the table has no status there.
  return statuses[code as ErrorCode] ?? 500;
}

/** Replaces an error without a code, which may quote anything and must not reach the client. */
export function toCoded(thrown: unknown): GoondanError {
  if (GoondanError.is(thrown)) return thrown;
  return new GoondanError('E_CONNECTOR_ENDED', 'The connector failed to answer; its log says why.');
}
