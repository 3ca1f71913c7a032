/**
 * Matches cancels with events, so that a cancel ends only the turn of its event, whether the cancel or the turn comes
 * first.
 */
import { GoondanError } from '@goondan/types';

/**
 * The maximum number of cancels whose turn has not begun. Above this number, the oldest cancel is forgotten, and its
 * turn is not cancelled.
 */
const MOST_EARLY = 1_000;

export class Cancellations {
  readonly #running = new Map<string, AbortController>();
  readonly #early = new Map<string, string>();

  /** Returns the signal for the turn of this event; it is already aborted if the cancel came first. */
  begin(eventId: string): AbortSignal {
    const controller = this.#running.get(eventId) ?? new AbortController();
    this.#running.set(eventId, controller);
    const reason = this.#early.get(eventId);
    if (reason !== undefined) controller.abort(cancelled(reason));
    return controller.signal;
  }

  /** Lets a cancel of `eventId` end the turn of another event, which has taken the input of this one. */
  join(eventId: string, running: string): void {
    const controller = this.#running.get(running);
    if (controller === undefined) return;
    this.#running.set(eventId, controller);
    const reason = this.#early.get(eventId);
    if (reason !== undefined) controller.abort(cancelled(reason));
  }

  /** Forgets events whose turn has ended. */
  end(...eventIds: readonly string[]): void {
    for (const eventId of eventIds) {
      this.#running.delete(eventId);
      this.#early.delete(eventId);
    }
  }

  cancel(eventId: string, reason: string): void {
    const controller = this.#running.get(eventId);
    if (controller !== undefined) return controller.abort(cancelled(reason));
    this.#early.set(eventId, reason);
    const [oldest] = this.#early.keys();
    if (this.#early.size > MOST_EARLY && oldest !== undefined) this.#early.delete(oldest);
  }
}

function cancelled(reason: string): GoondanError {
  return new GoondanError('E_CANCELLED', `The turn was cancelled: ${reason}`);
}
