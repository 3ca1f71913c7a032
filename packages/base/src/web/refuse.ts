/** How a connector says no over HTTP. */
import { type ErrorCode, GoondanError } from '@goondan/types';
import {
  headersOf as headersBy,
  refuse as refuseBy,
  sharedStatuses,
  type StatusByCode,
  statusOf as statusBy,
} from '@goondan/types/http';

/** Code of what the swarm says → status; 500 for every other. */
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

/** Of any code: that of a failed turn may be a tool's or a provider's own. */
export function statusOfCode(code: string | undefined): number {
  // A code that is not in the table has no status there.
  return statuses[code as ErrorCode] ?? 500;
}

/** An error without a code may quote anything, so whoever asked is not told. */
export function toCoded(thrown: unknown): GoondanError {
  if (thrown instanceof GoondanError) return thrown;
  return new GoondanError('E_CONNECTOR_ENDED', 'The connector failed to answer; its log says why.');
}
