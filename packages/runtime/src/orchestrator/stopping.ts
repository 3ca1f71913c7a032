import type { GoondanError } from '@goondan/types';

/**
 * Stops once. A second call gets the promise of the running stop, and shortens its time, unless it is a handover: see
 * `StopOptions`.
 */
export class Stopping {
  readonly #hurry = new AbortController();
  readonly #stopped = Promise.withResolvers<void>();
  #stopping: Promise<void> | undefined;
  #failure: GoondanError | undefined;

  constructor(private readonly end: (graceMs: number, hurry: AbortSignal, isHandover: boolean) => Promise<void>) {}

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

  stop(graceMs: number, isHandover = false): Promise<void> {
    if (this.#stopping !== undefined && !isHandover) this.#hurry.abort();
    this.#stopping ??= this.end(graceMs, this.#hurry.signal, isHandover).finally(() => this.#stopped.resolve());
    return this.#stopping;
  }
}
