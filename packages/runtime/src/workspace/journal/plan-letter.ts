import type { AgentEvent } from '@goondan/types';
import { countCrashes, encodeLetter } from '../records/dead-letter.ts';
import type { CommitEntry } from '../records/frame.ts';
import type { LogState } from '../records/log-state.ts';
import type { InstancePlace } from './instance-place.ts';

/** Makes the dead letter of an event whose turn is given up. Drops the oldest letters above the limit, with a warning. */
export function planLetter(
  place: Pick<InstancePlace, 'limits' | 'warn' | 'clock'>,
  { open, letters }: LogState,
  event: AgentEvent,
  reason: string,
): Pick<CommitEntry, 'letter' | 'lettersRemoved'> {
  const crashes = countCrashes(open.log.map(({ record }) => record));
  const letter = encodeLetter({ event, crashes, reason, deadAt: place.clock.now() });
  const tooMany = letters.size + 1 - place.limits.deadLetters;
  const removed = [...letters.keys()].slice(0, Math.max(0, tooMany));
  for (const key of removed) place.warn('log', `dropped the oldest dead letter, event ${key}`);
  return removed.length === 0 ? { letter } : { letter, lettersRemoved: removed };
}
