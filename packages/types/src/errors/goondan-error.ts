import type { CodePlace } from '../code-place.ts';
import type { ModelFailure } from '../model.ts';
import { errorCatalogue, type ErrorCode } from './error-catalogue.ts';
import { helpUrlOf } from './help-url.ts';

export interface GoondanErrorOptions {
  /** Advice for the reader; the catalogue's suggestion when absent. */
  suggestion?: string;
  cause?: unknown;
  /** If true, a retry may help, and the runtime runs another step. */
  retryable?: boolean;
  /** How long to wait before the retry, in milliseconds. */
  retryAfterMs?: number;
  /** The kind of failure, for the failure of a model call. */
  failure?: ModelFailure;
  /**
   * If true, the retry uses something else than the failed attempt, such as another model. So the retry starts at once,
   * and `policy.maxStepRetries` does not count it. The runtime makes at most 16 such retries in a row.
   */
  isFallback?: boolean;
}

/** Marks a {@link GoondanError}. Another copy of this package recognises the mark, too. */
const mark: unique symbol = Symbol.for('goondan.error');

/** An error with a code from the catalogue, which a person or a program can act on. */
export class GoondanError extends Error {
  override readonly name = 'GoondanError';
  readonly code: ErrorCode;
  readonly suggestion: string;
  /** The address of the page about the code; absent while the docs are not published. */
  declare readonly helpUrl?: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** The kind of failure, for the failure of a model call. */
  declare readonly failure?: ModelFailure;
  /** True if the retry uses something else than the failed attempt, such as another model. */
  declare readonly isFallback?: boolean;
  /**
   * The extension whose layer threw the error, once known. The runtime sets this field and overwrites any earlier
   * value.
   */
  declare extension?: string;
  /** The place in the bundle's code where the error was thrown, once known. */
  declare place?: CodePlace;

  /**
   * Tells whether a value is a `GoondanError`. Use it instead of `instanceof`, which fails for errors of another copy
   * of this package.
   */
  static is(value: unknown): value is GoondanError {
    try {
      return value instanceof Error && mark in value;
    } catch {
      // The value is a proxy that throws when it is examined.
      return false;
    }
  }

  /** Defined on the prototype, so that the mark shows up neither in logs nor in comparisons. */
  get [mark](): true {
    return true;
  }

  constructor(code: ErrorCode, message: string, options: GoondanErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.suggestion = options.suggestion ?? errorCatalogue[code].suggestion;
    const helpUrl = helpUrlOf(code);
    if (helpUrl !== undefined) this.helpUrl = helpUrl;
    this.retryable = options.retryable ?? false;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.failure !== undefined) this.failure = options.failure;
    if (options.isFallback !== undefined) this.isFallback = options.isFallback;
  }
}
