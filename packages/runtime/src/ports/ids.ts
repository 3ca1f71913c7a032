/** Ids as a parameter: random in the field, counted in tests and replays. */
export interface Ids {
  /** A new id that starts with `prefix-`. */
  next(prefix: string): string;
}

/** The system's, taken when the process begins: later, code of a bundle is given another (`agent/draws/`). */
export const newUuid = crypto.randomUUID.bind(crypto);

export const randomIds: Ids = { next: (prefix) => `${prefix}-${newUuid()}` };

/** 1, 2, 3 … for each prefix. */
export function countedIds(): Ids {
  const counts = new Map<string, number>();
  return {
    next(prefix) {
      const count = (counts.get(prefix) ?? 0) + 1;
      counts.set(prefix, count);
      return `${prefix}-${count}`;
    },
  };
}

/** The same event is the same turn, also after a crash. */
export function turnIdOf(eventId: string): string {
  return `turn-${eventId}`;
}

export function eventIdOf(turnId: string): string {
  return turnId.replace(/^turn-/, '');
}

/** What somebody may mean who types an id of a turn: all of it, that of its event, or the part that is different for each. */
export function typedTurnIds(id: string): string[] {
  return [id, turnIdOf(id), turnIdOf(`event-${id}`)];
}
