import type { StudioNotice } from '@goondan/cli/studio';
import { liveKey } from '../live/live-turns.ts';

/** By `liveKey`: another number whenever that conversation changed on disk. */
export type Commits = ReadonlyMap<string, number>;

/** Of conversations. One that is let go is read once more than it needs to be. */
const MOST_COUNTED = 200;

export function countCommits(before: Commits, notices: readonly StudioNotice[]): Commits {
  const changed = notices.flatMap(changedIn);
  if (changed.length === 0) return before;
  const after = new Map(before);
  for (const id of changed) {
    const count = (after.get(id) ?? 0) + 1;
    // Put at the end: the first ones are those of whom nothing was heard for the longest time.
    after.delete(id);
    after.set(id, count);
  }
  return new Map([...after].slice(-MOST_COUNTED));
}

/** One that is deleted cannot be read; that it is gone is in the view. */
function changedIn(notice: StudioNotice): string[] {
  if (notice.type === 'turn.ended') return [liveKey(notice.end.agent, notice.end.instanceKey)];
  if (notice.type !== 'instance' || notice.change === 'deleted') return [];
  return [liveKey(notice.at.agent, notice.at.instanceKey)];
}
