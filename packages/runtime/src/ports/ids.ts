/** Ids as a parameter: random in the field, counted in tests and replays. */
export interface Ids {
  /** A new id that starts with `prefix-`. */
  next(prefix: string): string;
}

export const randomIds: Ids = { next: (prefix) => `${prefix}-${crypto.randomUUID()}` };

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
