/** What is known about a thrown thing: which extension threw it, and how it looks in results and events. */
import { GoondanError, type TurnError } from '@goondan/types';
import type { LocateThrown } from '../../log/locate-thrown.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import { readField } from '../../json/read-field.ts';

/**
 * Notes on what a layer threw which extension threw it, without wrapping it, so that an outer `catch` sees the very
 * object. Only what cannot carry a note (`throw 'oops'`) is put into an error that can.
 */
export function attachExtension(thrown: unknown, extension: string): object {
  if (typeof thrown !== 'object' || thrown === null) {
    const message = `extension "${extension}" threw ${typeof thrown === 'string' ? `"${thrown}"` : String(thrown)}`;
    return attachExtension(new GoondanError('E_EXT_MIDDLEWARE', message, { cause: thrown }), extension);
  }
  if (extensionOf(thrown) === undefined) {
    // Reflect, because an author may freeze an error: then it stays without the note.
    Reflect.defineProperty(thrown, 'extensionName', { value: extension, configurable: true });
  }
  return thrown;
}

/** The extension whose layer threw this, if one did. */
export function extensionOf(thrown: unknown): string | undefined {
  return textField(thrown, 'extensionName');
}

const asItIs: Mask = (text) => text;

/**
 * Any thrown thing as results and events show it. `fallbackCode` is for errors that have no code of their own; `mask`
 * takes secrets out of what leaves the process.
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

/** The same for people: with the place in its file, when a layer threw it. Models and other agents do not get this. */
export function toPlacedError(
  thrown: unknown,
  fallbackCode: string,
  { mask, locate }: { readonly mask: Mask; readonly locate: LocateThrown },
): TurnError {
  const error = toTurnError(thrown, fallbackCode, mask);
  // Anything else may have passed through a layer on its way out, which is then in its stack too.
  const place = error.extension === undefined ? undefined : locate(thrown).place;
  return place === undefined ? error : { ...error, place };
}

/** Another try may succeed: the error says so itself. */
export function isRetryable(thrown: unknown): boolean {
  return readField(thrown, 'retryable') === true;
}

/** How long the error asks to wait before that. */
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
    // A cycle, or an object that refuses to be looked at.
    return `a thrown ${typeof thrown} that cannot be shown`;
  }
}

function textField(thrown: unknown, name: string): string | undefined {
  const value = readField(thrown, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
