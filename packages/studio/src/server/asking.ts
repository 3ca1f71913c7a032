/**
 * Sends one request whenever `ask` is called, but never two at a time: all calls during a running request share the
 * next request. So a slow server is not overloaded, and frequent calls still get an answer.
 */
import { ServerError } from './ask-server.ts';

export interface Asked<Answer> {
  readonly value?: Answer;
  readonly error?: Error;
  /** The version for which the answer was read. */
  readonly version: unknown;
}

/** The delay before a retry, when the server is busy or cannot be reached. */
const ASK_AGAIN_MS = 3_000;

export class Asking<Answer> {
  readonly #over = new AbortController();
  #isAsking = false;
  #wanted: { readonly version: unknown } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly get: (signal: AbortSignal) => Promise<Answer>,
    private readonly tell: (asked: Asked<Answer>) => void,
  ) {}

  ask(version: unknown): void {
    clearTimeout(this.#timer);
    this.#wanted = { version };
    if (!this.#isAsking) void this.#askWhileWanted();
  }

  /** Stops asking. No more answers are reported. */
  end(): void {
    this.#over.abort();
    clearTimeout(this.#timer);
  }

  async #askWhileWanted(): Promise<void> {
    this.#isAsking = true;
    while (this.#wanted !== undefined) {
      const { version } = this.#wanted;
      this.#wanted = undefined;
      const asked = await this.#askOnce(version);
      if (this.#over.signal.aborted) return;
      this.tell(asked);
      if (this.#wanted === undefined && isPassing(asked.error)) {
        this.#timer = setTimeout(() => this.ask(version), ASK_AGAIN_MS);
      }
    }
    this.#isAsking = false;
  }

  async #askOnce(version: unknown): Promise<Asked<Answer>> {
    try {
      return { value: await this.get(this.#over.signal), version };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)), version };
    }
  }
}

function isPassing(error: Error | undefined): boolean {
  return error instanceof ServerError && error.isPassing;
}
