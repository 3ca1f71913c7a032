/** Ids as a parameter: random in production, counted in tests. */
export interface Ids {
  /** Returns a new id that starts with `prefix-`. */
  next(prefix: string): string;
}

/** The system's function, taken when the process begins: later, bundle code gets a replacement (`agent/draws/`). */
export const newUuid = crypto.randomUUID.bind(crypto);

export const randomIds: Ids = { next: (prefix) => `${prefix}-${newUuid()}` };

/** Returns the id of an event's turn, which is the same after a crash. */
export function turnIdOf(eventId: string): string {
  return `turn-${eventId}`;
}

export function eventIdOf(turnId: string): string {
  return turnId.replace(/^turn-/, '');
}

/** Returns the turn ids that a typed id may mean: the id itself, that of an event, or the random part alone. */
export function typedTurnIds(id: string): string[] {
  return [id, turnIdOf(id), turnIdOf(`event-${id}`)];
}
