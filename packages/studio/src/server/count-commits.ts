import type { StudioNotice } from '@goondan/cli/studio';
import { liveKey } from '../live/live-turns.ts';

/** By `liveKey`: a number that changes whenever the conversation changed on disk. */
export type Commits = ReadonlyMap<string, number>;

/** The most conversations; one that is dropped is read once more than necessary. */
const MOST_COUNTED = 200;

export function countCommits(before: Commits, notices: readonly StudioNotice[]): Commits {
  const changed = notices.flatMap(changedIn);
  if (changed.length === 0) return before;
  const after = new Map(before);
  for (const id of changed) {
    const count = (after.get(id) ?? 0) + 1;
    // Moved to the end: the first ones are those without news for longest.
    after.delete(id);
    after.set(id, count);
  }
  return new Map([...after].slice(-MOST_COUNTED));
}

/** A deleted conversation cannot be read; the view shows that it is gone. */
function changedIn(notice: StudioNotice): string[] {
  if (notice.type === 'turn.ended') return [liveKey(notice.end.agent, notice.end.instanceKey)];
  if (notice.type !== 'instance' || notice.change === 'deleted') return [];
  return [liveKey(notice.at.agent, notice.at.instanceKey)];
}
