/**
 * Converts every failure of a provider to one of our errors, by the first rule that matches:
 *
 * 1. the conversation is too long → `E_MODEL_CONTEXT`: a retry does not help, but a shorter conversation does
 * 2. 401, 403, an invalid key, or no key → `E_MODEL_AUTH`, naming the source of the key
 * 3. an account without credit → `E_MODEL_FAILED`, final, although OpenAI sends it as 429
 * 4. 408, 429, 5xx, "overloaded" → `E_MODEL_FAILED`, retryable, after the delay that the provider requests
 * 5. any other status that is not a success → `E_MODEL_FAILED`, final
 * 6. a success whose body is not in the provider's format → `E_MODEL_REPLY`, retryable
 * 7. an incomplete answer, or no connection → `E_MODEL_FAILED`, retryable
 * 8. any other error, which happened before the request was sent (for example, an unsupported file) → `E_MODEL_FAILED`,
 *    final
 *
 * `failure` of the error is its kind, on which layers can rely.
 *
 * The message contains the provider's words, cut to 1000 characters and without the key. The cause is a plain copy,
 * because the original error contains the whole request.
 */
import { GoondanError, type ErrorCode, type GoondanErrorOptions, type ModelFailure } from '@goondan/types';
import { describeFailure, type Failure } from './describe-failure.ts';
import { isContextOverflow } from './is-context-overflow.ts';
import { StreamedError } from './read-stream.ts';
import { retryAfter } from './retry-after.ts';

export interface FailedCall {
  /** `provider/model`, for messages to people. */
  readonly label: string;
  /** The API key, to be masked in every message. */
  readonly apiKey: string | undefined;
  /** Where the key comes from, for messages to people. */
  readonly keySource: string;
  /** The URL of the provider, for messages to people. */
  readonly address: string;
  /** True if the provider answered with a success status before the failure. */
  readonly accepted: boolean;
  /** True if the request had images or files. */
  readonly hasFiles?: boolean;
  readonly now: Date;
}

const wordsLimit = 1000;
const keyCodes = new Set(['API_KEY_INVALID', 'authentication_error', 'invalid_api_key', 'UNAUTHENTICATED']);
const rateCodes = new Set(['rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED']);
const serverCodes = new Set(['api_error', 'server_error', 'INTERNAL', 'UNAVAILABLE']);
const creditCodes = new Set(['insufficient_quota', 'billing_error']);

const sendLess =
  'Wait a minute, then send the input again. If it happens often, set `limits` of the Model, so that calls wait before the provider refuses them, or add Extension/model-fallback, which calls another model.';
const noStream =
  'Send the input again. If it fails each time, the server may not be able to stream: write `options: { stream: false }` in the Model.';
const pay = 'Check the credit and the plan of the account at the provider, or use the key of another account.';
/** Every later turn sends the files of a conversation again. */
const leaveFile =
  'If the model does not take a file of the conversation, continue from a message before it: `gdn fork AGENT INSTANCE --at POSITION --as NEW`.';

export function toModelError(error: unknown, call: FailedCall): GoondanError {
  if (GoondanError.is(error)) return error;
  const failure = describeFailure(error instanceof StreamedError ? error.reported : error);
  const words = hide(failure.words, call.apiKey).slice(0, wordsLimit);
  const status = failure.status !== undefined && failure.status >= 300 ? ` (HTTP ${failure.status})` : '';
  const fail = (code: ErrorCode, kind: ModelFailure, message: string, options: GoondanErrorOptions = {}) => {
    const about = { cause: copyOf(error, call.apiKey), failure: kind };
    return new GoondanError(code, `${message}${status}: ${words}`, { ...about, ...options });
  };

  if (isContextOverflow(failure)) {
    return fail('E_MODEL_CONTEXT', 'context', `The conversation is too long for ${call.label}`);
  }
  if (isRefusedKey(failure)) return fail('E_MODEL_AUTH', 'auth', ...refusedKey(call));
  if (failure.codes.some((code) => creditCodes.has(code))) {
    return fail('E_MODEL_FAILED', 'credit', `${call.label} failed`, { suggestion: pay });
  }
  const passing = passingKind(failure);
  if (passing !== undefined) {
    const retryAfterMs = retryAfter(failure.headers, failure.body, call.now);
    return fail('E_MODEL_FAILED', passing, `${call.label} failed`, {
      retryable: true,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(passing === 'rate-limit' && { suggestion: sendLess }),
    });
  }
  if (failure.status === 404) {
    const suggestion = `Check \`model\` and \`endpoint\` of the Model: the request went to ${call.address}.`;
    return fail('E_MODEL_FAILED', 'not-found', `${call.label} was not found`, { suggestion });
  }
  if (failure.status !== undefined && failure.status >= 300) {
    return fail(
      'E_MODEL_FAILED',
      'refused',
      `${call.label} failed`,
      call.hasFiles === true ? { suggestion: leaveFile } : {},
    );
  }
  if (failure.isGarbled)
    return fail('E_MODEL_REPLY', 'format', `${call.label} answered in an unknown format`, { retryable: true });
  if (call.accepted) {
    const kind = streamedKind(failure);
    return fail('E_MODEL_FAILED', kind, `${call.label} broke off in the middle of its reply`, {
      retryable: true,
      ...(kind === 'broken-off' && { suggestion: noStream }),
    });
  }
  if (isUnreachable(error)) {
    const suggestion = `Check that a server runs at ${call.address}, and that this machine can reach it.`;
    return fail('E_MODEL_FAILED', 'unreachable', `${call.label} cannot be reached`, { retryable: true, suggestion });
  }
  return fail('E_MODEL_FAILED', 'refused', `${call.label} rejected this request`);
}

function isRefusedKey({ status, codes }: Failure): boolean {
  return status === 401 || status === 403 || codes.some((code) => keyCodes.has(code));
}

function refusedKey({ label, apiKey, keySource }: FailedCall): [message: string, options: GoondanErrorOptions] {
  if (apiKey !== undefined) {
    const suggestion = `Check ${keySource}, and what that key is allowed to use.`;
    return [`${label} does not accept the key from ${keySource}`, { suggestion }];
  }
  const suggestion = 'Set `apiKey` of the Model to the environment variable that holds the key.';
  return [`${label} requires a key, and the Model has none`, { suggestion }];
}

/** Returns the kind of a failure that may be over soon; undefined for other failures. */
function passingKind({ status = 0, codes }: Failure): ModelFailure | undefined {
  if (codes.includes('overloaded_error')) return 'server';
  if (status === 408) return 'timeout';
  if (status === 429) return 'rate-limit';
  return status >= 500 ? 'server' : undefined;
}

/** Returns the kind of a failure inside a stream. Its status was a success, so only the provider's code tells the kind. */
function streamedKind({ codes }: Failure): ModelFailure {
  if (codes.some((code) => rateCodes.has(code))) return 'rate-limit';
  return codes.some((code) => serverCodes.has(code)) ? 'server' : 'broken-off';
}

/**
 * Returns true if the provider could not be reached. Provider packages wrap an error of `fetch` in an API error without
 * a status; a custom `fetch` may throw its own error.
 */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'AI_APICallError' || 'code' in error || error.message === 'fetch failed';
}

function copyOf(error: unknown, apiKey: string | undefined): Error {
  const original = error instanceof StreamedError ? error.reported : error;
  const copy = new Error(hide(describeFailure(original).words, apiKey).slice(0, wordsLimit));
  if (original instanceof Error) copy.name = original.name;
  return copy;
}

/** The minimum length of a key that is masked. A shorter key, as used for local servers, would match ordinary words. */
const shortestSecret = 8;

function hide(text: string, apiKey: string | undefined): string {
  return apiKey === undefined || apiKey.length < shortestSecret ? text : text.replaceAll(apiKey, '***');
}
