/** Reads a thrown value: the extension that threw it, and its form in results and runtime events. */
import { GoondanError, type ModelFailure, modelFailures, type TurnError } from '@goondan/types';
import type { LocateThrown } from '../../log/locate-thrown.ts';
import { type Mask, maskCode } from '../../log/mask-secrets.ts';
import { readField } from '../../json/read-field.ts';

/**
 * Attaches the name of an extension to a thrown value without wrapping it, so that an outer `catch` gets the same
 * object. A value that cannot have fields (`throw 'oops'`) is wrapped in an error.
 */
export function attachExtension(thrown: unknown, extension: string): object {
  if (typeof thrown !== 'object' || thrown === null) {
    const message = `extension "${extension}" threw ${typeof thrown === 'string' ? `"${thrown}"` : String(thrown)}`;
    return attachExtension(new GoondanError('E_EXT_MIDDLEWARE', message, { cause: thrown }), extension);
  }
  if (extensionOf(thrown) === undefined) {
    // Reflect does not throw if an author has frozen the error; such an error stays without a name. Errors of other
    // classes may have a field `extension` of their own, so the name is stored in `extensionName`.
    Reflect.defineProperty(thrown, 'extensionName', { value: extension, configurable: true });
    if (GoondanError.is(thrown)) {
      Reflect.defineProperty(thrown, 'extension', { value: extension, configurable: true, writable: true });
    }
  }
  return thrown;
}

/** Returns the error with the name of the extension that caused it, also in its message. */
export function inNameOf(extension: string, { code, message, suggestion }: GoondanError): GoondanError {
  const named = new GoondanError(code, `Extension "${extension}": ${message}`, { suggestion });
  attachExtension(named, extension);
  return named;
}

/** Returns the extension whose layer threw this value, if a layer threw it. */
export function extensionOf(thrown: unknown): string | undefined {
  return textField(thrown, 'extensionName');
}

const asItIs: Mask = (text) => text;

/**
 * Converts any thrown value to its form in results and runtime events. `fallbackCode`: the code for errors without one.
 * `mask`: hides secrets before the text leaves the process.
 */
export function toTurnError(thrown: unknown, fallbackCode?: string, mask: Mask = asItIs): TurnError {
  const code = textField(thrown, 'code') ?? fallbackCode;
  const extension = extensionOf(thrown);
  const suggestion = textField(thrown, 'suggestion') ?? (extension === undefined ? undefined : adviseOn(thrown));
  const helpUrl = textField(thrown, 'helpUrl');
  return {
    message: mask(messageOf(thrown)),
    ...(code === undefined ? {} : { code: maskCode(code, mask) }),
    ...(suggestion === undefined ? {} : { suggestion: mask(suggestion) }),
    ...(helpUrl === undefined ? {} : { helpUrl: mask(helpUrl) }),
    ...(extension === undefined ? {} : { extension }),
  };
}

/**
 * Like `toTurnError`, with the place in the source file if a layer threw the error. For people only: models and other
 * agents do not get the place.
 */
export function toPlacedError(
  thrown: unknown,
  fallbackCode: string,
  { mask, locate }: { readonly mask: Mask; readonly locate: LocateThrown },
): TurnError {
  const error = toTurnError(thrown, fallbackCode, mask);
  // Only an error thrown by a layer gets a place: the stack of another error may contain layers that it only passed
  // through.
  const place = error.extension === undefined ? undefined : locate(thrown).place;
  return place === undefined ? error : { ...error, place };
}

/** Returns true if the error says that a retry may succeed. */
export function isRetryable(thrown: unknown): boolean {
  return readField(thrown, 'retryable') === true;
}

/** Returns the delay before a retry that the error asks for. */
export function retryAfterMsOf(thrown: unknown): number | undefined {
  const value = readField(thrown, 'retryAfterMs');
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Returns true if the retry uses something else than the failed attempt, such as another model. */
export function isFallback(thrown: unknown): boolean {
  return isRetryable(thrown) && readField(thrown, 'isFallback') === true;
}

/** The maximum number of fallbacks in a row, in case an extension never stops. */
export const MOST_FALLBACKS = 16;

/** Returns the kind of failure of a model call. */
export function modelFailureOf(thrown: unknown): ModelFailure | undefined {
  const value = readField(thrown, 'failure');
  return modelFailures.find((failure) => failure === value);
}

/** The messages of Bun for a change of something frozen or readonly. They do not say what was to be changed. */
const readonlyMessages: readonly string[] = [
  'Attempted to assign to readonly property.',
  'Attempting to define property on object that is not extensible.',
  'Unable to delete property.',
  'Array length is not writable',
];

/** Returns the suggestion for a layer that tried to change a message or `ctx.runtime` in place. */
function adviseOn(thrown: unknown): string | undefined {
  if (!(thrown instanceof TypeError) || !readonlyMessages.includes(messageOf(thrown))) return undefined;
  return '`ctx.runtime` and the messages of the conversation are frozen. To change a message, emit a `replace` event with a changed copy of it.';
}

function messageOf(thrown: unknown): string {
  const message = textField(thrown, 'message');
  if (message !== undefined) return message;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    // The value has a cycle, or throws when it is read.
    return `a thrown ${typeof thrown} that cannot be shown`;
  }
}

function textField(thrown: unknown, name: string): string | undefined {
  const value = readField(thrown, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
