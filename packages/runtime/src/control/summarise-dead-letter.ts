import type { AgentAddress } from '@goondan/types';
import { defined } from '../json/defined.ts';
import type { DeadLetter } from '../workspace/records/dead-letter.ts';
import { toInstanceAddress } from './instance-address.ts';
import type { DeadLetterSummary } from './swarm.ts';

/** Describes a dead letter, read from disk, as `Swarm.deadLetters` lists it. */
export function summariseDeadLetter(
  at: AgentAddress,
  { event, crashes, reason, deadAt }: DeadLetter,
): DeadLetterSummary {
  return {
    ...toInstanceAddress(at),
    eventId: event.id,
    crashes,
    reason,
    deadAt: deadAt.toISOString(),
    ...defined({ input: event.input }),
  };
}
