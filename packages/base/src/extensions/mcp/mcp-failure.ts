import { GoondanError } from '@goondan/types';

/**
 * A failed request to the server. `kind` is the reason:
 *
 * - `unreached`: the request did not arrive, so a retry cannot have an effect twice.
 * - `session-lost`: the server lost our session and did nothing, so a retry in a new session cannot have an effect
 *   twice.
 * - `broken`: the connection was lost during the request. Whether the request took effect is unknown.
 * - `timeout`: the request took too long.
 * - `refused`: the server answered with an error.
 * - `sign-in`: the server did nothing, because a person has to sign in.
 * - `unsupported`: the server asked for something that servers do not get, such as sampling.
 */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly kind: 'unreached' | 'session-lost' | 'broken' | 'timeout' | 'refused' | 'sign-in' | 'unsupported';

  constructor(kind: McpFailure['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }

  /** True when the connection can no longer be used. */
  get endsConnection(): boolean {
    return this.kind === 'unreached' || this.kind === 'session-lost' || this.kind === 'broken';
  }

  /** True when the server has not started the request, so that the request may be repeated. */
  get leftNothing(): boolean {
    return this.kind === 'unreached' || this.kind === 'session-lost';
  }
}

/** Creates the error that the model and the log get. */
export function toError(server: string, failure: McpFailure): GoondanError {
  const { kind, message, cause } = failure;
  const options = { cause: cause ?? failure };
  if (kind === 'timeout') return new GoondanError('E_MCP_TIMEOUT', `MCP server "${server}": ${message}`, options);
  if (kind === 'refused') return new GoondanError('E_MCP_CALL', `MCP server "${server}": ${message}`, options);
  if (kind === 'unsupported') {
    return new GoondanError('E_MCP_UNSUPPORTED', `MCP server "${server}": ${message}`, options);
  }
  if (kind === 'sign-in') {
    return new GoondanError('E_MCP_SIGN_IN', `MCP server "${server}" needs a sign-in: ${message}`, {
      ...options,
      suggestion: `Run \`gdn mcp login ${server}\`. The next call then uses the new sign-in.`,
    });
  }
  const unknown = kind === 'broken' ? ' Whether the call took effect is unknown.' : '';
  return new GoondanError('E_MCP_CONNECT', `MCP server "${server}" cannot be reached: ${message}${unknown}`, options);
}
