import { errorCatalogue, type ErrorCode } from './error-catalogue.ts';

/** Whether a text is one of the catalogue's codes: for errors that come back from a record or another process. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
