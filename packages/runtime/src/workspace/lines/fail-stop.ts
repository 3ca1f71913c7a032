/**
 * Runs what it is given one after the other, and nothing more once the disk failed under one of them: from then on what
 * this process believes about its files may be wrong. Whoever owns it opens the files anew and looks.
 */
import { GoondanError, type ErrorCode } from '@goondan/types';

const DISK_ERRORS: readonly ErrorCode[] = ['E_DISK_FULL', 'E_STORE_READ', 'E_STORE_WRITE'];

export class FailStop {
  readonly #what: string;
  #last: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(what: string) {
    this.#what = what;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when everything that was given has ended. */
  async settle(): Promise<void> {
    await this.#last;
  }

  /** For a failure that must not reject what it happened in. */
  stop(failure: unknown): void {
    this.#failure = failure ?? new Error('stopped');
  }

  run<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#attempt(action));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** A refusal that has nothing to do with the disk stops nothing. */
  async #attempt<T>(action: () => Promise<T>): Promise<T> {
    if (this.failed) throw this.#refusal();
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof GoondanError) || DISK_ERRORS.includes(error.code)) this.stop(error);
      throw error;
    }
  }

  #refusal(): GoondanError {
    const message = `An earlier write to ${this.#what} failed`;
    const suggestion = 'Open it again: that looks at what is on the disk and repairs it.';
    return new GoondanError('E_STORE_WRITE', message, { suggestion, cause: this.#failure });
  }
}
