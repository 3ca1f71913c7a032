import type { CodePlace } from '../code-place.ts';
import { errorCatalogue, type ErrorCode } from './error-catalogue.ts';

export interface GoondanErrorOptions {
  /** The advice for the reader; that of the catalogue when absent. */
  suggestion?: string;
  cause?: unknown;
  /** A retry may help: the runtime runs another step. */
  retryable?: boolean;
  /** The wait before the retry. */
  retryAfterMs?: number;
}

/** An error with a code from the catalogue: something the reader can act on. */
export class GoondanError extends Error {
  override readonly name = 'GoondanError';
  readonly code: ErrorCode;
  readonly suggestion: string;
  readonly helpUrl: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** The extension it concerns, once known. Set by the onion when a layer throws. */
  declare extensionName?: string;
  /** The place where code of the bundle threw, once known. */
  declare place?: CodePlace;

  constructor(code: ErrorCode, message: string, options: GoondanErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.suggestion = options.suggestion ?? errorCatalogue[code].suggestion;
    this.helpUrl = `docs/errors.md#${code.toLowerCase()}`;
    this.retryable = options.retryable ?? false;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}
