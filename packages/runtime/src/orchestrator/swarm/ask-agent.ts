/**
 * An event and the end of its turn, whoever asks: a client of the swarm, or a connector. It is accepted on the one way in;
 * waiting for it adds nothing to what happens.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { toInstanceAddress } from '../../control/instance-address.ts';
import type { Acceptance, SwarmNotice, TurnEnd, WatchFilter } from '../../control/swarm.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { SwarmAgents } from './swarm-agents.ts';

export interface AskAgentOptions {
  /** Aborting it cancels the turn, whose end is still waited for. */
  readonly cancel?: AbortSignal | undefined;
  /** Why it was cancelled. */
  readonly reason: string;
  /** Told when a cancel is durable, or there was nothing to cancel any more. */
  readonly onCancelled?: (() => void) | undefined;
  /** Aborting it gives up waiting: rejects with its reason. */
  readonly left?: AbortSignal | undefined;
  /** Told once, before anything else, when the event is on disk. */
  readonly onAccepted?: ((acceptance: Acceptance) => void) | undefined;
  /** Hears only of this turn. */
  readonly onNotice?: ((notice: SwarmNotice) => void) | undefined;
  /** Of these; of all when absent. */
  readonly types?: WatchFilter['types'] | undefined;
}

/** **Errors** — those of `SwarmAgents.accept`, `E_CALLS_FULL`, and why nobody will tell how the turn ended. */
export async function askAgent(
  swarm: SwarmAgents,
  to: AgentAddress,
  event: AgentEvent,
  { cancel, reason, left, onCancelled, onAccepted, onNotice, types }: AskAgentOptions,
): Promise<TurnEnd> {
  // Before it is accepted: its turn may be over when that is known.
  const waiter = swarm.waiters.wait(to, event.id);
  const filter = { ...toInstanceAddress(to), eventId: event.id, ...(types && { types }) };
  const unwatch = onNotice === undefined ? () => undefined : swarm.watchers.add(filter, onNotice);
  const gone = Promise.withResolvers<never>();
  // Who left before it was accepted does not want to hear of it.
  gone.promise.catch(() => undefined);
  const leave = () => gone.reject(left?.reason);
  const giveUp = () => void swarm.cancel(to, event.id, reason).then(() => onCancelled?.());
  left?.addEventListener('abort', leave, { once: true });
  try {
    const { duplicate } = await swarm.accept(to, event, true);
    onAccepted?.(acceptanceOf(to, event, duplicate));
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
