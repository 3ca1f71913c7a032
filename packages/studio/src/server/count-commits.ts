import type { StudioNotice } from '@goondan/cli/studio';
import { liveKey } from '../live/live-turns.ts';

/** Maps a conversation, by its `liveKey`, to a number that changes whenever the conversation changed on disk. */
export type Commits = ReadonlyMap<string, number>;

/**
 * The maximum number of conversations in the map. A conversation that is dropped from the map is read once more than
 * necessary.
 */
const MOST_COUNTED = 200;

export function countCommits(before: Commits, notices: readonly StudioNotice[]): Commits {
  const changed = notices.flatMap(changedIn);
  if (changed.length === 0) return before;
  const after = new Map(before);
  for (const id of changed) {
    const count = (after.get(id) ?? 0) + 1;
    // Moves the entry to the end, so that the first entries are those that have not changed for the longest time.
    after.delete(id);
    after.set(id, count);
  }
  return new Map([...after].slice(-MOST_COUNTED));
}

/**
 * Returns the conversations that the notice changed. Leaves out a deleted conversation, because it cannot be read, and
 * the view shows that it was deleted.
 */
function changedIn(notice: StudioNotice): string[] {
  if (notice.type === 'turn.ended') return [liveKey(notice.end.agent, notice.end.instanceKey)];
  if (notice.type !== 'instance' || notice.change === 'deleted') return [];
  return [liveKey(notice.at.agent, notice.at.instanceKey)];
}
