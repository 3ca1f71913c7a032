import { GoondanError } from '@goondan/types';

const MOST_STREAMS = 64;

/** Counts the open streams, and refuses more than the limit. */
export class StreamRoom {
  #open = 0;

  get size(): number {
    return this.#open;
  }

  /** Counts one more stream. Returns a function to call once, when that stream ends. **Errors** — `E_STUDIO_BUSY`. */
  take(): () => void {
    if (this.#open >= MOST_STREAMS) {
      throw new GoondanError(
        'E_STUDIO_BUSY',
        `Studio is open in ${MOST_STREAMS} windows, which is the limit: close some.`,
        { retryable: true },
      );
    }
    this.#open += 1;
    return () => void (this.#open -= 1);
  }
}
