/** The source of ids is passed as a parameter. Ids are random in production and counted in tests. */
export interface Ids {
  /** Returns a new id that starts with `prefix-`. */
  next(prefix: string): string;
}

/**
 * The system's `randomUUID`. This reference is taken when the process starts, because the global function is later
 * replaced for bundle code (`agent/draws/`).
 */
export const newUuid = crypto.randomUUID.bind(crypto);

export const randomIds: Ids = { next: (prefix) => `${prefix}-${newUuid()}` };

/** Returns the id of an event's turn. A turn that is resumed after a crash has the same id. */
export function turnIdOf(eventId: string): string {
  return `turn-${eventId}`;
}

/** Returns the id of the event that tries a dead letter again. */
export function retryIdOf(eventId: string): string {
  return `${eventId}~retry`;
}

export function eventIdOf(turnId: string): string {
  return turnId.replace(/^turn-/, '');
}
