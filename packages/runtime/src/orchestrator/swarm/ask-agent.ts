/**
 * Delivers an event and waits for the end of its turn, for clients of the swarm and connectors. The event is accepted
 * in the same way as an event for which nobody waits.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { toInstanceAddress } from '../../control/instance-address.ts';
import type { Acceptance, SwarmNotice, TurnEnd, WatchFilter } from '../../control/swarm.ts';
import type { ConnectionFence } from '../../store/cluster-store.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { SwarmAgents } from './swarm-agents.ts';

export interface AskAgentOptions {
  /** Aborting it cancels the turn; the call still waits for the end of the turn. */
  readonly cancel?: AbortSignal | undefined;
  /** The reason of the cancel. */
  readonly reason: string;
  /** Called when a cancel is durable, or the turn had already ended. */
  readonly onCancelled?: (() => void) | undefined;
  /** Aborting it ends the wait, which rejects with the signal's reason. */
  readonly left?: AbortSignal | undefined;
  /** Called once, when the event is on disk, before any other callback. */
  readonly onAccepted?: ((acceptance: Acceptance) => void) | undefined;
  /** Receives notices of this turn only. */
  readonly onNotice?: ((notice: SwarmNotice) => void) | undefined;
  /** If true, and the turn runs already, the notices begin with its backlog. */
  readonly soFar?: boolean | undefined;
  /** Accepts the event only while this node has the lease of the connection. */
  readonly under?: ConnectionFence | undefined;
  /** Notice types to deliver; all when absent. */
  readonly types?: WatchFilter['types'] | undefined;
}

/**
 * Delivers the event and waits. **Errors** — those of `SwarmAgents.accept`, `E_CALLS_FULL`, and the reason why the end
 * of the turn cannot be known.
 */
export async function askAgent(
  swarm: SwarmAgents,
  to: AgentAddress,
  event: AgentEvent,
  { cancel, reason, left, soFar, onCancelled, onAccepted, onNotice, under, types }: AskAgentOptions,
): Promise<TurnEnd> {
  // Registered before the event is accepted, because its turn may have ended by then.
  const waiter = swarm.waiters.wait(to, event.id);
  const filter = { ...toInstanceAddress(to), eventId: event.id, ...(types && { types }), ...(soFar && { soFar }) };
  const unwatch = onNotice === undefined ? () => undefined : swarm.watchers.add(filter, onNotice);
  const gone = Promise.withResolvers<never>();
  // If the caller left before the event was accepted, nothing handles this rejection.
  gone.promise.catch(() => undefined);
  const leave = () => gone.reject(left?.reason);
  const giveUp = () => void swarm.cancel(to, event.id, reason).then(() => onCancelled?.());
  left?.addEventListener('abort', leave, { once: true });
  try {
    const { duplicate, traceId } = await swarm.accept(to, event, true, under);
    onAccepted?.(acceptanceOf(to, { ...event, traceId }, duplicate));
    cancel?.addEventListener('abort', giveUp, { once: true });
    if (cancel?.aborted === true) giveUp();
    if (left?.aborted === true) leave();
    return await Promise.race([waiter.end, gone.promise]);
  } finally {
    left?.removeEventListener('abort', leave);
    cancel?.removeEventListener('abort', giveUp);
    waiter.forget();
    unwatch();
  }
}

export function acceptanceOf(to: AgentAddress, event: AgentEvent, duplicate: boolean): Acceptance {
  return {
    accepted: true,
    eventId: event.id,
    ...toInstanceAddress(to),
    turnId: turnIdOf(event.id),
    traceId: event.traceId,
    duplicate,
  };
}
