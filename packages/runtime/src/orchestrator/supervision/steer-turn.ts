/** Hands events to a running turn, which may take their inputs between two steps (invariant 18 of the machine). */
import type { AgentEvent } from '@goondan/types';
import type { InstanceAction, InstanceState, QueuedEvent } from './instance-state.ts';
import { hasRun, hasTurn } from './instance-step.ts';

/**
 * Returns true if the event is for a running turn. An agent that waits for an answer gets a turn of its own, and so does an
 * event that demands an answer with a schema.
 */
export function isForRunningTurn({ delivery, input, content, output, replyTo }: AgentEvent): boolean {
  const hasMessage = input !== undefined || (content?.length ?? 0) > 0;
  return delivery === 'now' && hasMessage && output === undefined && replyTo === undefined;
}

/** The maximum number of events that a turn is handed. Otherwise every turn of a full inbox would be handed all of it. */
const MOST_HANDED = 100;

/**
 * Hands the running turn the events that are for it, up to the maximum. The process ignores an event that its turn has
 * taken already.
 */
export function steerAll(state: InstanceState): InstanceAction[] {
  const actions: InstanceAction[] = [];
  for (const queued of state.queue.slice(1)) {
    if (actions.length >= MOST_HANDED) break;
    actions.push(...steer(state, queued));
  }
  return actions;
}

/** Hands the running turn an event that has just been queued, unless the turn has the maximum before it. */
export function steerNew(state: InstanceState, entry: QueuedEvent): InstanceAction[] {
  const own = steer(state, entry);
  const isHanded = () => steerAll(state).some((each) => each.type === 'turn.steer' && each.seq === entry.seq);
  return own.length > 0 && isHanded() ? own : [];
}

/**
 * Hands the running turn an event, if the event is for it. An event that is cancelled, or whose own turn has run before,
 * waits for its own turn.
 */
export function steer(state: InstanceState, queued: QueuedEvent): InstanceAction[] {
  const { phase, takesAhead, spawned: process } = state;
  const { seq, event, cancelled } = queued;
  const isTaken = hasTurn(phase) && phase.name !== 'killed' && takesAhead === true && isForRunningTurn(event);
  const isFirst = !hasRun(queued) && cancelled === undefined && seq > 0;
  return isTaken && isFirst ? [{ type: 'turn.steer', process, seq, event }] : [];
}

/** Tells the process about cancelled events that the turn may have taken before it was interrupted. */
export function tellCancelled({ queue, spawned: process }: InstanceState): InstanceAction[] {
  return queue
    .slice(1)
    .flatMap(({ event, cancelled: reason }) =>
      reason !== undefined && isForRunningTurn(event)
        ? [{ type: 'turn.cancel' as const, process, eventId: event.id, reason }]
        : [],
    );
}
