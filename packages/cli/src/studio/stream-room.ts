import { GoondanError } from '@goondan/types';

const MOST_STREAMS = 32;

/** How many streams are open. One more than there may be is refused. */
export class StreamRoom {
  readonly #open = new Set<AbortController>();

  get size(): number {
    return this.#open.size;
  }

  /** The stream ends when its signal aborts; whoever ends it first gives its place back. **Errors** — `E_STUDIO_BUSY`. */
  take(): { readonly closing: AbortSignal; readonly leave: () => void } {
    if (this.#open.size >= MOST_STREAMS) {
      throw new GoondanError('E_STUDIO_BUSY', `${MOST_STREAMS} streams are open.`, { retryable: true });
    }
    const controller = new AbortController();
    this.#open.add(controller);
    return { closing: controller.signal, leave: () => void this.#open.delete(controller) };
  }

  closeAll(): void {
    for (const controller of this.#open) controller.abort();
  }
}
