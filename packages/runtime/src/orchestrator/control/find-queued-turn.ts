/** Finds the turn that a client means by a typed id, among events that are queued or run. */
import type { AgentAddress } from '@goondan/types';
import { eventIdOf, turnIdOf } from '../../ports/ids.ts';
import { ambiguousId, findTurnId, shortIdOfEvent } from '../../ports/turn-ids.ts';

export interface QueuedTurn {
  readonly address: AgentAddress;
  /** The id of the event. */
  readonly id: string;
}

/**
 * Finds an event of one instance: by its id, by the id of its turn, or by the short form of that id. **Errors** —
 * `E_TRACE_AMBIGUOUS`.
 */
export function findEventId(typed: string, eventIds: readonly string[] = []): string | undefined {
  // A sender may choose an id that looks like the id of another event's turn.
  if (eventIds.includes(typed)) return typed;
  const turnId = findTurnId(typed, eventIds.map(turnIdOf), { isChange: true });
  return turnId === undefined ? undefined : eventIdOf(turnId);
}

/** Finds an event of any of these instances. **Errors** — `E_TRACE_AMBIGUOUS`, also when several instances have one. */
export function findInInstances(
  typed: string,
  instances: Iterable<readonly [address: AgentAddress, eventIds: readonly string[]]>,
): QueuedTurn | undefined {
  const found: QueuedTurn[] = [];
  for (const [address, eventIds] of instances) {
    const id = findEventId(typed, eventIds);
    if (id !== undefined) found.push({ address, id });
  }
  if (found.length < 2) return found[0];
  throw ambiguousId(
    typed,
    found,
    ({ address, id }) => `${shortIdOfEvent(id)} of ${address.agentName} (${address.instanceKey})`,
    'Name the agent and the conversation too.',
  );
}
