import type { AgentEvent } from '@goondan/types';
import { countCrashes, encodeLetter } from '../records/dead-letter.ts';
import type { CommitEntry } from '../records/frame.ts';
import type { LogState } from '../records/log-state.ts';
import type { InstancePlace } from './instance-place.ts';

export interface GivenUpTurn {
  readonly event: AgentEvent;
  /** The events that the turn had taken. */
  readonly taken: readonly AgentEvent[];
  readonly reason: string;
}

/**
 * Makes the dead letter of an event whose turn is given up, and those of the events that the turn had taken. Drops the
 * oldest letters above the limit, with a warning.
 */
export function planLetter(
  place: Pick<InstancePlace, 'limits' | 'warn' | 'clock'>,
  { open, letters }: LogState,
  { event, taken, reason }: GivenUpTurn,
): Pick<CommitEntry, 'letter' | 'lettersOfTaken' | 'lettersRemoved'> {
  const crashes = countCrashes(open.log.map(({ record }) => record));
  const letterOf = (each: AgentEvent) => encodeLetter({ event: each, crashes, reason, deadAt: place.clock.now() });
  const also = taken.length === 0 ? {} : { lettersOfTaken: taken.map(letterOf) };
  const tooMany = letters.size + 1 + taken.length - place.limits.deadLetters;
  const removed = [...letters.keys()].slice(0, Math.max(0, tooMany));
  for (const key of removed) place.warn('log', `dropped the oldest dead letter, event ${key}`);
  const letter = letterOf(event);
  return { letter, ...also, ...(removed.length > 0 && { lettersRemoved: removed }) };
}
