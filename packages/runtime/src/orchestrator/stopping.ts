import type { GoondanError } from '@goondan/types';

/** A stop happens once. Asked again it hurries, and whoever asks gets the end of the one that is under way. */
export class Stopping {
  readonly #end: (graceMs: number, hurry: AbortSignal) => Promise<void>;
  readonly #hurry = new AbortController();
  readonly #stopped = Promise.withResolvers<void>();
  #stopping: Promise<void> | undefined;
  #failure: GoondanError | undefined;

  constructor(end: (graceMs: number, hurry: AbortSignal) => Promise<void>) {
    this.#end = end;
  }

  /** Resolves when it is over, whoever asked and however it went. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  /** Why it stopped though nobody asked for it. */
  get failure(): GoondanError | undefined {
    return this.#failure;
  }

  /** Stops at once, by itself. */
  fail(failure: GoondanError): void {
    this.#failure ??= failure;
    // How it ends is told by `stopped`.
    this.stop(0).catch(() => undefined);
  }

  stop(graceMs: number): Promise<void> {
    if (this.#stopping !== undefined) this.#hurry.abort();
    this.#stopping ??= this.#end(graceMs, this.#hurry.signal).finally(() => this.#stopped.resolve());
    return this.#stopping;
  }
}
