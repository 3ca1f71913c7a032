import { GoondanError } from '@goondan/types';

/**
 * Why the server did not do what it was asked.
 *
 * - `unreached`: nothing arrived there. Asking again repeats nothing.
 * - `session-lost`: it does not know us any more; it did nothing. Asking again, in a new session, repeats nothing.
 * - `broken`: the connection went while it was at it. Whether it took effect is unknown.
 * - `timeout`: it is at it for too long.
 * - `refused`: it answered that it will not.
 */
export type FailureKind = 'unreached' | 'session-lost' | 'broken' | 'timeout' | 'refused';

export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }

  /** The connection is of no use any more. */
  get endsConnection(): boolean {
    return this.kind === 'unreached' || this.kind === 'session-lost' || this.kind === 'broken';
  }

  /** The server has not begun: the same may be asked again. */
  get leftNothing(): boolean {
    return this.kind === 'unreached' || this.kind === 'session-lost';
  }
}

/** As the model, or whoever reads the log, gets to see it. */
export function toError(server: string, failure: McpFailure): GoondanError {
  const { kind, message, cause } = failure;
  const options = { cause: cause ?? failure };
  if (kind === 'timeout') return new GoondanError('E_MCP_TIMEOUT', `MCP server "${server}": ${message}`, options);
  if (kind === 'refused') return new GoondanError('E_MCP_CALL', `MCP server "${server}": ${message}`, options);
  const unknown = kind === 'broken' ? ' Whether the call took effect is unknown.' : '';
  return new GoondanError('E_MCP_CONNECT', `MCP server "${server}" cannot be reached: ${message}${unknown}`, options);
}
