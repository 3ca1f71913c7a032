/**
 * What the running turn of an agent is doing, in so far as it matters whether the turn can be left where it stands. A turn
 * that only waits for people can: what it did is recorded, and the next process goes on with the same question.
 */
import type { TurnLogWriter } from '../conversation/turn-log.ts';

export class Activity {
  /** Questions to people. */
  #questions = 0;
  /** Somebody this turn asked waits for people. */
  #isHeld = false;
  /** Model calls and tool handlers. */
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

  /** The turn waits for people, and for nothing else. */
  get isResting(): boolean {
    return (this.#questions > 0 || this.#isHeld) && this.#effects === 0;
  }

  async question<Value>(wait: () => Promise<Value>): Promise<Value> {
    this.#count(1, 0);
    return wait().finally(() => this.#count(-1, 0));
  }

  async effect<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#count(0, 1);
    return work().finally(() => this.#count(0, -1));
  }

  /** An effect that waits for another agent, and may begin again from its start, stands in nobody's way. */
  async aside<Value>(wait: () => Promise<Value>): Promise<Value> {
    this.#count(0, -1);
    return wait().finally(() => this.#count(0, 1));
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#look();
  }

  /** Calls `onLeft` when it is resting, at once or later, and what it did so far is on disk. */
  async leave(onLeft: () => void): Promise<void> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#lookers.add(resolve);
      if (this.isResting && (await this.#isOnDisk()) && this.isResting) return onLeft();
      await promise;
      this.#lookers.delete(resolve);
    }
  }

  /** When that fails, so does the turn. */
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
    for (const look of [...this.#lookers]) look();
  }
}
