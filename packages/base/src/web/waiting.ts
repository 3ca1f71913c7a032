/** How long somebody waits for a turn: until they leave, or until the time is over. The reason of `signal` says which. */
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

  /** Nobody is there any more to be answered. */
  leave(): void {
    this.#leaving.abort(new Refusal(400, 'E_HTTP_BODY', 'The client left.'));
  }

  /** It is over: nothing is waited for any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#onLeft);
  }
}

function timeoutError(seconds: number): Refusal {
  return new Refusal(504, 'E_HTTP_TIMEOUT', `The turn was not over after ${seconds} seconds.`);
}
