import { errorCatalogue, type ErrorCode } from './error-catalogue.ts';

/** Tells whether a text is a code of the catalogue, for errors from a record or another process. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
