/** Formats errors as OpenAI's API does: `{ "error": { message, type, param, code } }`. */
import type { GoondanError } from '@goondan/types';
import { type Advice, FORBIDDEN_ADVICE, headersOf, statusOf, suggestionOf } from '../../web/refuse.ts';

/** OpenAI's names for the codes that client programs check; all other codes keep Goondan's names. */
const theirCodes: Readonly<Record<string, string>> = {
  E_HTTP_AUTH: 'invalid_api_key',
  E_AGENT_UNKNOWN: 'model_not_found',
};

const advice: Advice = {
  E_QUESTION_CHANGED: 'Leave out `digest`, or send that of the tool call.',
  E_QUESTION_ENDED: 'Send `{"decision": "wait"}` as the tool message to get the rest of the turn.',
  E_QUESTION_FORBIDDEN: FORBIDDEN_ADVICE,
  E_QUESTION_UNKNOWN: 'Send the `tool_call_id` of a question, or a message of the user.',
};

export function errorShape(status: number, code: string, message: string) {
  return { error: { message, type: typeOf(status), param: null, code: theirCodes[code] ?? code } };
}

export function refuseAsOpenai(error: GoondanError): Response {
  const status = statusOf(error);
  const message = `${error.message} ${suggestionOf(error, advice)}`.trim();
  // The client library repeats a request with the status 409, but an answer that came too late is refused again.
  const retry = status === 409 ? { 'x-should-retry': 'false' } : {};
  return Response.json(errorShape(status, error.code, message), { status, headers: { ...headersOf(error), ...retry } });
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
