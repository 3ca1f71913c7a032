/** Ids as a parameter: random in production, counted in tests. */
export interface Ids {
  /** Returns a new id that starts with `prefix-`. */
  next(prefix: string): string;
}

/**
 * The system's function, read when the process starts, because bundle code later gets a replacement (`agent/draws/`).
 */
export const newUuid = crypto.randomUUID.bind(crypto);

export const randomIds: Ids = { next: (prefix) => `${prefix}-${newUuid()}` };

/** Returns the id of an event's turn. It is the same after a crash. */
export function turnIdOf(eventId: string): string {
  return `turn-${eventId}`;
}

export function eventIdOf(turnId: string): string {
  return turnId.replace(/^turn-/, '');
}

/**
 * Returns the turn ids that a typed id may refer to. The typed id may be a turn id, an event id, or only its random
 * part.
 */
export function typedTurnIds(id: string): string[] {
  return [id, turnIdOf(id), turnIdOf(`event-${id}`)];
}
