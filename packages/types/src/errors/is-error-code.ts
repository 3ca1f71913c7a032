import { errorCatalogue, type ErrorCode } from './error-catalogue.ts';

/**
 * Tells whether a text is an error code of the catalogue. Use it for errors that were read from a record or sent by
 * another process.
 */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
