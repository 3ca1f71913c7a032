import type { StudioNotice } from '@goondan/cli/studio';
import { liveKey } from '../live/live-turns.ts';

/** By `liveKey`: another number whenever a turn of that conversation was committed. */
export type Commits = ReadonlyMap<string, number>;

/** Of conversations. One that is let go is read once more than it needs to be. */
const MOST_COUNTED = 200;

export function countCommits(before: Commits, notices: readonly StudioNotice[]): Commits {
  const ended = notices.flatMap((notice) => (notice.type === 'turn.ended' ? [notice.end] : []));
  if (ended.length === 0) return before;
  const after = new Map(before);
  for (const { agent, instanceKey } of ended) {
    const id = liveKey(agent, instanceKey);
    const count = (after.get(id) ?? 0) + 1;
    // Put at the end: the first ones are those of whom nothing was heard for the longest time.
    after.delete(id);
    after.set(id, count);
  }
  return new Map([...after].slice(-MOST_COUNTED));
}
