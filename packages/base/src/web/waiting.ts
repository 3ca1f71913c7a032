/**
 * Waits for a turn, until the client disconnects or the deadline passes. The reason of `signal` says which of the two
 * happened.
 */
import { Refusal } from '@goondan/types/http';

export const DEFAULT_TIMEOUT_SECONDS = 300;

export class Waiting {
  readonly #leaving = new AbortController();
  readonly #timer: Timer;
  readonly #request: Request;
  readonly #onLeft = () => this.leave();

  constructor(request: Request, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS) {
    this.#request = request;
    request.signal.addEventListener('abort', this.#onLeft, { once: true });
    this.#timer = setTimeout(() => this.#leaving.abort(timeoutError(timeoutSeconds)), timeoutSeconds * 1_000);
  }

  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Ends the wait because the client has disconnected and cannot get an answer. */
  leave(): void {
    this.#leaving.abort(new Refusal(400, 'E_HTTP_BODY', 'The client left.'));
  }

  /** Stops the timer when the turn has been answered. */
  end(): void {
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#onLeft);
  }
}

function timeoutError(seconds: number): Refusal {
  return new Refusal(504, 'E_HTTP_TIMEOUT', `The turn was not over after ${seconds} seconds.`);
}
