/**
 * An error in a message to another process. It has the fields that the receiver needs to react and to print, without
 * the stack.
 */
import { type ErrorCode, errorCatalogue, GoondanError, isErrorCode } from '@goondan/types';
import type { Mask } from '../../log/mask-secrets.ts';
import { codePlace } from './code-place.ts';
import { type Check, count, flag, ShapeError, object, optional, text } from './shape.ts';

const errorCode: Check<ErrorCode> = (value) => {
  const code = text(value);
  if (!isErrorCode(code)) throw new ShapeError('is not a code of the catalogue');
  return code;
};

export const frameError = object({
  code: errorCode,
  message: text,
  suggestion: optional(text),
  retryable: optional(flag),
  retryAfterMs: optional(count),
  /** The place where bundle code threw. It is not sent to other agents and connectors. */
  place: optional(codePlace),
});

export type FrameError = ReturnType<typeof frameError>;

/**
 * Converts any thrown value. `fallback`: the code for a value that has no code of this catalogue. An error from another
 * copy of `@goondan/types` may have a code that this catalogue lacks.
 */
export function toFrameError(thrown: unknown, fallback: ErrorCode): FrameError {
  if (!GoondanError.is(thrown)) return { code: fallback, message: messageOf(thrown) };
  const { message, suggestion, retryable, retryAfterMs, place } = thrown;
  const code = isErrorCode(thrown.code) ? thrown.code : fallback;
  return {
    code,
    message,
    ...(suggestion === errorCatalogue[code].suggestion ? {} : { suggestion }),
    ...(retryable ? { retryable } : {}),
    // Foreign code may have set `retryAfterMs` to any value.
    ...(Number.isSafeInteger(Math.round(retryAfterMs ?? NaN)) && {
      retryAfterMs: Math.max(0, Math.round(retryAfterMs ?? 0)),
    }),
    ...(place === undefined ? {} : { place }),
  };
}

/** Masks the texts of an error that bundle code threw. */
export function maskFrameError({ message, suggestion, place, ...rest }: FrameError, mask: Mask): FrameError {
  return {
    ...rest,
    message: mask(message),
    ...(suggestion === undefined ? {} : { suggestion: mask(suggestion) }),
    ...(place === undefined ? {} : { place: { ...place, file: mask(place.file) } }),
  };
}

/** Makes an error that can be thrown from a received error. */
export function fromFrameError({ code, message, place, ...options }: FrameError): GoondanError {
  const error = new GoondanError(code, message, options);
  return place === undefined ? error : Object.assign(error, { place });
}

/** Returns the text of any thrown value. Never throws for plain values. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : Object.prototype.toString.call(thrown);
}
