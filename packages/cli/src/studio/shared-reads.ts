/**
 * Shares reads of conversations, because a read is expensive and pages request often:
 *
 * 1. Equal requests during a read share its result.
 * 2. Only a few reads run at once; others are queued.
 * 3. The queue is limited: when it is full, a request is refused with `E_STUDIO_BUSY`.
 */
import { GoondanError } from '@goondan/types';

const MOST_AT_ONCE = 4;
const MOST_WAITING = 64;

export class SharedReads {
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #line: (() => void)[] = [];
  #active = 0;

  /** `key` must include everything that the result depends on. **Errors** — `E_STUDIO_BUSY`; those of `read`. */
  run<Value>(key: string, read: () => Promise<Value>): Promise<Value> {
    const running = this.#running.get(key);
    // The cast is safe: reads with equal keys have equal types.
    if (running !== undefined) return running as Promise<Value>;
    if (this.#line.length >= MOST_WAITING) {
      throw new GoondanError('E_STUDIO_BUSY', `${MOST_WAITING} requests are already waiting.`, { retryable: true });
    }
    const reading = this.#inTurn(read).finally(() => this.#running.delete(key));
    this.#running.set(key, reading);
    return reading;
  }

  async #inTurn<Value>(read: () => Promise<Value>): Promise<Value> {
    if (this.#active >= MOST_AT_ONCE) await new Promise<void>((resolve) => void this.#line.push(resolve));
    else this.#active += 1;
    try {
      return await read();
    } finally {
      // The next queued read takes the slot of the finished read; if the queue is empty, the slot becomes free.
      const next = this.#line.shift();
      if (next === undefined) this.#active -= 1;
      else next();
    }
  }
}
