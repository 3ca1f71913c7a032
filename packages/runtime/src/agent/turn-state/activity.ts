/**
 * Tracks the activity of the running turn, to know whether its process may leave the turn. A turn that only waits for
 * people can be left: its effects are recorded, and the next process makes the same approval request again.
 */
import type { TurnLogWriter } from '../conversation/turn-log.ts';

export class Activity {
  /** The number of open approval requests. */
  #questions = 0;
  /** True while an agent that this turn called waits for a person. */
  #isHeld = false;
  /** The number of running model calls and tool handlers. */
  #effects = 0;
  readonly #lookers = new Set<() => void>();
  #log: Pick<TurnLogWriter, 'flush'> | undefined;

  begin(log: Pick<TurnLogWriter, 'flush'>): void {
    this.#log = log;
  }

  end(): void {
    this.#log = undefined;
    this.#isHeld = false;
  }

  /** True when the turn waits only for people. */
  get isResting(): boolean {
    return (this.#questions > 0 || this.#isHeld) && this.#effects === 0;
  }

  async question<Value>(wait: () => Promise<Value>): Promise<Value> {
    this.#count(1, 0);
    return wait().finally(() => this.#count(-1, 0));
  }

  async effect<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#count(0, 1);
    try {
      return await work();
    } finally {
      this.#count(0, -1);
    }
  }

  /**
   * Waits for another agent inside an effect that may be repeated. During the wait, the effect does not prevent leaving
   * the turn.
   */
  async aside<Value>(wait: () => Promise<Value>): Promise<Value> {
    this.#count(0, -1);
    return wait().finally(() => this.#count(0, 1));
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#look();
  }

  /** Calls `onLeft` as soon as the turn is resting and its records are on disk. */
  async leave(onLeft: () => void): Promise<void> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#lookers.add(resolve);
      if (this.isResting && (await this.#isOnDisk()) && this.isResting) return onLeft();
      await promise;
      this.#lookers.delete(resolve);
    }
  }

  /** Writes the turn's records to disk. Returns false when the write failed, which also makes the turn fail. */
  async #isOnDisk(): Promise<boolean> {
    return (this.#log?.flush() ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
  }

  #count(questions: number, effects: number): void {
    this.#questions += questions;
    this.#effects += effects;
    this.#look();
  }

  #look(): void {
    if (this.#lookers.size === 0) return;
    for (const look of [...this.#lookers]) look();
  }
}
