import { useState } from 'react';
import type { LiveTurn } from '../live/live-turns.ts';

/** The turn that runs; one that is over until what it committed is read, so that no word of it goes and comes again. */
export function useLiveTurn(live: LiveTurn | undefined, isRead: boolean): LiveTurn | undefined {
  const [latest, setLatest] = useState<LiveTurn>();
  if (live !== undefined && live !== latest) setLatest(live);
  if (live === undefined && latest !== undefined && isRead) setLatest(undefined);
  return live ?? (isRead ? undefined : latest);
}
