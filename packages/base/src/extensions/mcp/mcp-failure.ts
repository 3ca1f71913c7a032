import { type ErrorCode, GoondanError } from '@goondan/types';

/**
 * A failed request to the server. `kind` is the reason:
 *
 * - `unreached`: the request did not arrive, so a retry cannot have an effect twice.
 * - `session-lost`: the server lost our session and did nothing, so a retry in a new session cannot have an effect
 *   twice.
 * - `broken`: the connection was lost during the request. Whether the request took effect is unknown.
 * - `timeout`: the request took too long.
 * - `refused`: the server answered with an error.
 * - `excess`: the server sent more than is read. Whether the request took effect is unknown.
 * - `sign-in`: the server did nothing, because a person has to sign in.
 * - `unsupported`: the server asked for something that servers do not get, such as sampling.
 * - `question`: the server asked a person in a way that is not allowed.
 * - `declined`: a person did not want to do what the server asked for.
 */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
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

export const failureKinds = [
  'unreached',
  'session-lost',
  'broken',
  'timeout',
  'refused',
  'excess',
  'sign-in',
  'unsupported',
  'question',
  'declined',
] as const;

export type FailureKind = (typeof failureKinds)[number];

/** Creates the error that the model and the log get. */
export function toError(server: string, failure: McpFailure): GoondanError {
  const { kind, message, cause } = failure;
  const options = { cause: cause ?? failure };
  if (kind === 'sign-in') {
    return new GoondanError('E_MCP_SIGN_IN', `MCP server "${server}" needs a sign-in: ${message}`, {
      ...options,
      suggestion: `Run \`gdn mcp login ${server}\`. The next call then uses the new sign-in.`,
    });
  }
  if (kind === 'excess') {
    const suggestion =
      'Ask the server for less, such as a page or fewer fields. If it cannot send less, tell the author of the server.';
    return new GoondanError('E_MCP_CALL', `MCP server "${server}": ${message}`, { ...options, suggestion });
  }
  const code = codes[kind];
  if (code !== undefined) return new GoondanError(code, `MCP server "${server}": ${message}`, options);
  const unknown = kind === 'broken' ? ' Whether the call took effect is unknown.' : '';
  return new GoondanError('E_MCP_CONNECT', `MCP server "${server}" cannot be reached: ${message}${unknown}`, options);
}

/** The codes of failures during which the server was reached. */
const codes: Partial<Record<FailureKind, ErrorCode>> = {
  timeout: 'E_MCP_TIMEOUT',
  refused: 'E_MCP_CALL',
  question: 'E_MCP_QUESTION',
  unsupported: 'E_MCP_UNSUPPORTED',
  declined: 'E_MCP_DECLINED',
};
