/** The timeout of a request to another agent. */
import { type Check, oneOf } from './check/shape.ts';

export interface RequestTimeout {
  readonly ms: number;
  /**
   * The setting that the timeout comes from: `timeoutMs` of the request, or `requestTimeoutMs` of the caller's policy.
   */
  readonly field: 'timeoutMs' | 'requestTimeoutMs';
  /** `call`: the timeout counts from the call, whatever the callee does. `turn`: from the start of the callee's turn. */
  readonly from: 'call' | 'turn';
}

export const requestTimeoutField: Check<RequestTimeout['field']> = oneOf('timeoutMs', 'requestTimeoutMs');
export const requestTimeoutFrom: Check<RequestTimeout['from']> = oneOf('call', 'turn');

/** A time limit that ended a request, for the text of the error. */
export interface RequestBound {
  readonly ms: number;
  readonly field: RequestTimeout['field'] | 'turnTimeoutMs' | 'queueTimeoutMs';
  readonly from: RequestTimeout['from'];
}

/** Describes the timeout, as text to follow the name of the agent. */
export function describeLate({ ms, field, from }: RequestBound): string {
  if (field === 'queueTimeoutMs') return `did not begin its turn within ${ms} ms (its policy.queueTimeoutMs)`;
  return `did not answer within ${ms} ms${from === 'turn' ? ' of the start of its turn' : ''} (${whose[field]})`;
}

const whose = {
  timeoutMs: 'timeoutMs of the request',
  requestTimeoutMs: "the caller's policy.requestTimeoutMs",
  turnTimeoutMs: 'its policy.turnTimeoutMs',
} as const;
