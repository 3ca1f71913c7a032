/**
 * The inputs that wait for a running turn. They come from outside while the turn runs, and the turn takes them between two
 * steps. An input that the turn does not take stays in the inbox, and has a turn of its own.
 */
import type { TurnInput } from '../conversation/conversation-store.ts';

export class WaitingInputs {
  readonly #waiting = new Map<string, TurnInput>();
  readonly #taken = new Set<string>();

  /** `onTaken`: called once for each event that the turn has taken, in this run or in an earlier one. */
  constructor(private readonly onTaken: (eventId: string) => void = () => undefined) {}

  /** Adds an input. An input that the turn has taken already is ignored. */
  add(input: TurnInput): void {
    if (!this.#taken.has(input.event.id)) this.#waiting.set(input.event.id, input);
  }

  /** Removes an input that was cancelled before the turn took it. */
  remove(eventId: string): void {
    this.#waiting.delete(eventId);
  }

  /** Returns all inputs that wait, in the order of their numbers. They do not wait any more. */
  next(): readonly TurnInput[] {
    if (this.#waiting.size === 0) return [];
    const inputs = [...this.#waiting.values()].toSorted((one, other) => one.seq - other.seq);
    this.#waiting.clear();
    return inputs;
  }

  /** Notes that the turn has taken the input of this event. */
  took(eventId: string): void {
    if (this.#taken.has(eventId)) return;
    this.#taken.add(eventId);
    this.#waiting.delete(eventId);
    this.onTaken(eventId);
  }

  /** The ids of the events whose inputs the turn has taken, in order. */
  get taken(): readonly string[] {
    return [...this.#taken];
  }
}
