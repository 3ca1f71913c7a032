/** Reads a thrown value: the extension that threw it, and its form in results and runtime events. */
import { GoondanError, type TurnError } from '@goondan/types';
import type { LocateThrown } from '../../log/locate-thrown.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import { readField } from '../../json/read-field.ts';

/**
 * Attaches the name of its extension to a thrown value without wrapping it, so that an outer `catch` gets the same
 * object. Only a value that cannot carry a name (`throw 'oops'`) is wrapped in an error.
 */
export function attachExtension(thrown: unknown, extension: string): object {
  if (typeof thrown !== 'object' || thrown === null) {
    const message = `extension "${extension}" threw ${typeof thrown === 'string' ? `"${thrown}"` : String(thrown)}`;
    return attachExtension(new GoondanError('E_EXT_MIDDLEWARE', message, { cause: thrown }), extension);
  }
  if (extensionOf(thrown) === undefined) {
    // Reflect does not throw: an author may freeze an error, and then it stays without a name.
    Reflect.defineProperty(thrown, 'extensionName', { value: extension, configurable: true });
  }
  return thrown;
}

/** The extension whose layer threw this, if a layer did. */
export function extensionOf(thrown: unknown): string | undefined {
  return textField(thrown, 'extensionName');
}

const asItIs: Mask = (text) => text;

/**
 * Converts any thrown value to its form in results and runtime events. `fallbackCode` is for errors without a code of
 * their own; `mask` hides secrets before the text leaves the process.
 */
export function toTurnError(thrown: unknown, fallbackCode?: string, mask: Mask = asItIs): TurnError {
  const code = textField(thrown, 'code') ?? fallbackCode;
  const suggestion = textField(thrown, 'suggestion');
  const helpUrl = textField(thrown, 'helpUrl');
  const extension = extensionOf(thrown);
  return {
    message: mask(messageOf(thrown)),
    ...(code === undefined ? {} : { code }),
    ...(suggestion === undefined ? {} : { suggestion: mask(suggestion) }),
    ...(helpUrl === undefined ? {} : { helpUrl: mask(helpUrl) }),
    ...(extension === undefined ? {} : { extension }),
  };
}

/**
 * The same, with its place in the file when a layer threw it. For people only: models and other agents do not get the
 * place.
 */
export function toPlacedError(
  thrown: unknown,
  fallbackCode: string,
  { mask, locate }: { readonly mask: Mask; readonly locate: LocateThrown },
): TurnError {
  const error = toTurnError(thrown, fallbackCode, mask);
  // Only a layer's own error gets a place: the stack of another error may contain layers that it only passed through.
  const place = error.extension === undefined ? undefined : locate(thrown).place;
  return place === undefined ? error : { ...error, place };
}

/** True when the error itself says that another try may succeed. */
export function isRetryable(thrown: unknown): boolean {
  return readField(thrown, 'retryable') === true;
}

/** The wait before the next try that the error asks for. */
export function retryAfterMsOf(thrown: unknown): number | undefined {
  const value = readField(thrown, 'retryAfterMs');
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function messageOf(thrown: unknown): string {
  const message = textField(thrown, 'message');
  if (message !== undefined) return message;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    // A cycle, or an object that throws when it is read.
    return `a thrown ${typeof thrown} that cannot be shown`;
  }
}

function textField(thrown: unknown, name: string): string | undefined {
  const value = readField(thrown, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
