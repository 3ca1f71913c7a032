import { useState } from 'react';
import type { LiveTurn } from '../live/live-turns.ts';

/**
 * Returns the running turn. A turn that has ended is returned until its commit was read, so that its text does not
 * flicker.
 */
export function useLiveTurn(live: LiveTurn | undefined, isRead: boolean): LiveTurn | undefined {
  const [latest, setLatest] = useState<LiveTurn>();
  if (live !== undefined && live !== latest) setLatest(live);
  if (live === undefined && latest !== undefined && isRead) setLatest(undefined);
  return live ?? (isRead ? undefined : latest);
}
