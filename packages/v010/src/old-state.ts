/**
 * `getState` and `setState` of v0.10, which are synchronous, on top of `api.state`.
 *
 * The last known value is kept here. It is read again when a turn or a step starts, and before `turn.post`: a
 * resumed turn goes back to an earlier state, and an extension that replaces another one takes over its state.
 */
import type { ExtensionApi, JsonValue } from '@goondan/types';
import { copyState } from './check-json.ts';

export class OldState {
  #value: JsonValue = null;
  /** The number of changes by `set`, so that a read that began earlier does not undo them. */
  #changes = 0;

  constructor(
    private readonly api: Pick<ExtensionApi, 'state' | 'logger'>,
    private readonly extension: string,
  ) {}

  /** Returns a copy of the state; an empty object when none was ever set. */
  get(): JsonValue {
    return this.#value === null ? {} : structuredClone(this.#value);
  }

  set(value: unknown): void {
    this.#value = copyState(this.extension, value);
    this.#changes += 1;
    // The runtime takes the value over at once; only the answer comes later.
    this.api.state.set(structuredClone(this.#value)).catch((error: unknown) => {
      this.api.logger.error(`setState failed: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  /** Reads the state from the runtime. */
  async load(): Promise<void> {
    const before = this.#changes;
    const value = await this.api.state.get();
    if (this.#changes === before) this.#value = value;
  }

  loadSoon(): void {
    this.load().catch((error: unknown) => this.api.logger.error('The state cannot be read:', error));
  }
}
