/**
 * Runs actions one after the other, and stops for good at the first disk error: from then on this process may be wrong
 * about its files. The owner has to open the files again and read them.
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

  /** Resolves when all actions so far have ended. */
  async settle(): Promise<void> {
    await this.#last;
  }

  /** Stops after a failure that must not reject the action it happened in. */
  stop(failure: unknown): void {
    this.#failure = failure ?? new Error('stopped');
  }

  run<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#attempt(action));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Runs one action. Only a disk error stops the later ones, not another rejection. */
  async #attempt<T>(action: () => Promise<T>): Promise<T> {
    if (this.failed) throw this.#refusal();
    try {
      return await action();
    } catch (error) {
      if (!GoondanError.is(error) || DISK_ERRORS.includes(error.code)) this.stop(error);
      throw error;
    }
  }

  #refusal(): GoondanError {
    const message = `An earlier write to ${this.#what} failed`;
    const suggestion = 'Open it again: that looks at what is on the disk and repairs it.';
    return new GoondanError('E_STORE_WRITE', message, { suggestion, cause: this.#failure });
  }
}
