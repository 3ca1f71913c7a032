/** Finds a dead letter by its id. A module of its own, because commands that load it also load how ids are searched. */
import type { DeadLetterSummary } from '@goondan/runtime/control';
import { findInInstances } from '@goondan/runtime/internal';

/** **Errors** — `E_TRACE_AMBIGUOUS`, with the agents and conversations that have a letter with this id. */
export function findDeadLetter(typed: string, letters: readonly DeadLetterSummary[]) {
  const found = findInInstances(
    typed,
    letters.map(({ agent: agentName, instanceKey, eventId }) => [{ agentName, instanceKey }, [eventId]]),
  );
  return found && { agent: found.address.agentName, instanceKey: found.address.instanceKey, eventId: found.id };
}
