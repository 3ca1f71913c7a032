/**
 * Runs actions one after the other. After the first disk error it rejects all further actions, because the knowledge of
 * this process about its files may be wrong. The owner has to open and read the files again.
 */
import { GoondanError, type ErrorCode } from '@goondan/types';

/** Errors of the disk, and of a store that is elsewhere. After such an error, a write may have happened. */
const DISK_ERRORS: readonly ErrorCode[] = ['E_DISK_FULL', 'E_STORE_AWAY', 'E_STORE_READ', 'E_STORE_WRITE'];

export class FailStop {
  #isBusy = false;
  /** The actions that wait, in order. */
  readonly #waiting: (() => void)[] = [];
  #failure: unknown;

  constructor(private readonly what: string) {}

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when all actions started so far have ended. */
  async settle(): Promise<void> {
    if (!this.#isBusy) return;
    await this.#turn();
    this.#next();
  }

  /** Rejects all later actions, as after a disk error, but lets the current action succeed. */
  stop(failure: unknown): void {
    this.#failure = failure ?? new Error('stopped');
  }

  /** Runs an action, at once if no other one runs. Only a disk error stops later actions; any other rejection does not. */
  async run<T>(action: () => Promise<T> | T): Promise<T> {
    if (this.#isBusy) await this.#turn();
    this.#isBusy = true;
    try {
      if (this.failed) throw this.#refusal();
      return await action();
    } catch (error) {
      if (!GoondanError.is(error) || DISK_ERRORS.includes(error.code)) this.stop(error);
      throw error;
    } finally {
      this.#next();
    }
  }

  /** Resolves when the actions before are over. Until `next`, all others wait. */
  #turn(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isBusy = false;
  }

  #refusal(): GoondanError {
    const message = `An earlier write to ${this.what} failed`;
    const suggestion = 'Open the conversation again: opening checks the file on the disk and repairs it.';
    return new GoondanError('E_STORE_WRITE', message, { suggestion, cause: this.#failure });
  }
}
