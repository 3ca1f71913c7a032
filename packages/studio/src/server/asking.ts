/**
 * One repeated question, asked one at a time: requests for a newer answer during a read share the next one. So a slow
 * server is not overloaded, and a frequent question is still answered.
 */
import { ServerError } from './ask-server.ts';

export interface Asked<Answer> {
  readonly value?: Answer;
  readonly error?: Error;
  /** The version it was read for. */
  readonly version: unknown;
}

/** The delay after a temporary refusal: the server is busy or gone. */
const ASK_AGAIN_MS = 3_000;

export class Asking<Answer> {
  readonly #get: (signal: AbortSignal) => Promise<Answer>;
  readonly #tell: (asked: Asked<Answer>) => void;
  readonly #over = new AbortController();
  #isAsking = false;
  #wanted: { readonly version: unknown } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(get: (signal: AbortSignal) => Promise<Answer>, tell: (asked: Asked<Answer>) => void) {
    this.#get = get;
    this.#tell = tell;
  }

  ask(version: unknown): void {
    clearTimeout(this.#timer);
    this.#wanted = { version };
    if (!this.#isAsking) void this.#askWhileWanted();
  }

  /** Ends it: nothing is reported any more. */
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
      this.#tell(asked);
      if (this.#wanted === undefined && isPassing(asked.error)) {
        this.#timer = setTimeout(() => this.ask(version), ASK_AGAIN_MS);
      }
    }
    this.#isAsking = false;
  }

  async #askOnce(version: unknown): Promise<Asked<Answer>> {
    try {
      return { value: await this.#get(this.#over.signal), version };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)), version };
    }
  }
}

function isPassing(error: Error | undefined): boolean {
  return error instanceof ServerError && error.isPassing;
}
