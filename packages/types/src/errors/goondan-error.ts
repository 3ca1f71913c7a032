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

/** Marks errors of {@link GoondanError}, also for another copy of this package. */
const mark: unique symbol = Symbol.for('goondan.error');

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

  /**
   * Tells whether a value is such an error. Use it instead of `instanceof`, which does not know the errors of another copy
   * of this package.
   */
  static is(value: unknown): value is GoondanError {
    return value instanceof Error && mark in value;
  }

  /** On the prototype, so that errors look the same as before in logs and comparisons. */
  get [mark](): true {
    return true;
  }

  constructor(code: ErrorCode, message: string, options: GoondanErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.suggestion = options.suggestion ?? errorCatalogue[code].suggestion;
    this.helpUrl = `docs/errors.md#${code.toLowerCase()}`;
    this.retryable = options.retryable ?? false;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}
