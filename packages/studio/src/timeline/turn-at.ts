import type { TimelineTurn, TimelineView } from '@goondan/cli/studio';

/** Finds the turn of an event. Uses a binary search, because turns are in the order of their events. */
export function turnAt({ turns }: Pick<TimelineView, 'turns'>, seq: number): TimelineTurn | undefined {
  let [low, high] = [0, turns.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const turn = turns[middle];
    if (turn === undefined) return undefined;
    if (seq < turn.from) high = middle - 1;
    else if (seq > turn.to) low = middle + 1;
    else return turn;
  }
  return undefined;
}
