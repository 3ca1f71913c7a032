/**
 * Tracks the activity of the running turn, to know whether its process may leave the turn. A turn that only waits for
 * people can be left: its effects are recorded, and the next process makes the same approval request again. An effect that
 * waits for a person and must not be repeated is ended first.
 */
import type { TurnLogWriter } from '../conversation/turn-log.ts';

export class Activity {
  /** The number of open approval requests. */
  #questions = 0;
  /** True while an agent that this turn called waits for a person. */
  #isHeld = false;
  /** The number of running model calls and tool handlers. */
  #effects = 0;
  /** The number of running waits of each effect that does not prevent leaving the turn. */
  readonly #asides = new Map<object, number>();
  /** Ends the effects that wait for a person and must not be repeated. */
  readonly #ends = new Set<() => void>();
  #endsWaits = false;
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
   * Waits for another agent or a person inside an effect that may be repeated. During the wait, the effect does not prevent
   * leaving the turn. `effect`: identifies the effect, which may have several such waits at a time.
   */
  async aside<Value>(effect: object, wait: () => Promise<Value>): Promise<Value> {
    this.#countAsides(effect, 1);
    return wait().finally(() => this.#countAsides(effect, -1));
  }

  /** Waits for a person inside an effect that must not be repeated. `end` ends the effect when the process is to end. */
  async endable<Value>(wait: () => Promise<Value>, end: () => void): Promise<Value> {
    if (this.#endsWaits) end();
    this.#ends.add(end);
    return wait().finally(() => this.#ends.delete(end));
  }

  /** Ends the effects that must not be repeated when they wait for a person: those that wait now, and all later ones. */
  endWaits(): void {
    this.#endsWaits = true;
    for (const end of [...this.#ends]) end();
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

  #countAsides(effect: object, change: 1 | -1): void {
    const before = this.#asides.get(effect) ?? 0;
    const now = before + change;
    if (now === 0) this.#asides.delete(effect);
    else this.#asides.set(effect, now);
    if (before === 0 || now === 0) this.#count(0, -change);
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
