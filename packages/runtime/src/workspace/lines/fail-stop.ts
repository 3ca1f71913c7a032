/**
 * Runs actions one after the other. After the first disk error it rejects all further actions, because the knowledge of
 * this process about its files may be wrong. The owner has to open and read the files again.
 */
import { GoondanError, type ErrorCode } from '@goondan/types';

const DISK_ERRORS: readonly ErrorCode[] = ['E_DISK_FULL', 'E_STORE_READ', 'E_STORE_WRITE'];

export class FailStop {
  #last: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(private readonly what: string) {}

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when all actions started so far have ended. */
  async settle(): Promise<void> {
    await this.#last;
  }

  /** Rejects all later actions, as after a disk error, but lets the current action succeed. */
  stop(failure: unknown): void {
    this.#failure = failure ?? new Error('stopped');
  }

  run<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#attempt(action));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Runs one action. Only a disk error stops later actions; any other rejection does not. */
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
    const message = `An earlier write to ${this.what} failed`;
    const suggestion = 'Open the conversation again: opening checks the file on the disk and repairs it.';
    return new GoondanError('E_STORE_WRITE', message, { suggestion, cause: this.#failure });
  }
}
