import type { GoondanError } from '@goondan/types';

/** Stops once. A second call shortens the time, and gets the promise of the running stop. */
export class Stopping {
  readonly #end: (graceMs: number, hurry: AbortSignal) => Promise<void>;
  readonly #hurry = new AbortController();
  readonly #stopped = Promise.withResolvers<void>();
  #stopping: Promise<void> | undefined;
  #failure: GoondanError | undefined;

  constructor(end: (graceMs: number, hurry: AbortSignal) => Promise<void>) {
    this.#end = end;
  }

  /** Resolves when the stop has ended, successfully or not. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  /** The reason of a stop that was not requested. */
  get failure(): GoondanError | undefined {
    return this.#failure;
  }

  /** Stops at once because of a failure. */
  fail(failure: GoondanError): void {
    this.#failure ??= failure;
    // The error is ignored here, because `stopped` reports the end.
    this.stop(0).catch(() => undefined);
  }

  stop(graceMs: number): Promise<void> {
    if (this.#stopping !== undefined) this.#hurry.abort();
    this.#stopping ??= this.#end(graceMs, this.#hurry.signal).finally(() => this.#stopped.resolve());
    return this.#stopping;
  }
}
