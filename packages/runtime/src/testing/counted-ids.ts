import type { Ids } from '../ports/ids.ts';

/** Makes ids that count 1, 2, 3, … for each prefix. */
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
