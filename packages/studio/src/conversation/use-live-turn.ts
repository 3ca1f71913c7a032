import { useState } from 'react';
import type { LiveTurn } from '../live/live-turns.ts';

/** Returns the running turn; one that ended stays until its commit is read, so that its text does not flicker. */
export function useLiveTurn(live: LiveTurn | undefined, isRead: boolean): LiveTurn | undefined {
  const [latest, setLatest] = useState<LiveTurn>();
  if (live !== undefined && live !== latest) setLatest(live);
  if (live === undefined && latest !== undefined && isRead) setLatest(undefined);
  return live ?? (isRead ? undefined : latest);
}
