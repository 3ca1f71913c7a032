/** Ends the parts of a swarm in order, within its grace. */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import type { Connections } from './connections/connections.ts';
import type { Keepers } from './keepers/keepers.ts';
import type { SwarmAgents } from './swarm/swarm-agents.ts';

/**
 * The part of the grace that connections may use. A connection may wait for a turn that takes long, so the rest of the
 * grace is kept for the cleanup.
 */
const CONNECTIONS_SHARE = 0.75;

/** The time in which the servers of kept connections must end. */
const KEEPERS_GRACE_MS = 5_000;

export interface Draining {
  readonly clock: Clock;
  readonly swarm: SwarmAgents;
  readonly connections: Connections;
  readonly keepers: Keepers;
}

/**
 * Drains connections first, so that no new input arrives while the remaining work is finished, and keepers last,
 * because turns use them. Callers of turns that wait for people, or begin to, get an error at once, because a connection would
 * wait for these turns, and the turns for the next start.
 */
export async function drainSwarm(
  { clock, swarm, connections, keepers }: Draining,
  graceMs: number,
  hurry: AbortSignal,
  /** The reason why a node of several ends, although nobody stopped it. */
  lost?: GoondanError,
  /** See `StopOptions`. */
  isHandover = false,
): Promise<void> {
  const deadline = clock.elapsed() + graceMs;
  const stopped = stoppedError(lost, isHandover);
  swarm.held.follow((at) => swarm.waiters.failed(at, stopped));
  hurry.addEventListener('abort', () => void connections.drain(0), { once: true });
  await connections.drain(graceMs * CONNECTIONS_SHARE);
  await swarm.drain(Math.max(0, deadline - clock.elapsed()), hurry);
  await keepers.drain(hurry.aborted ? 0 : KEEPERS_GRACE_MS);
  swarm.waiters.failAll(stopped);
}

function stoppedError(lost: GoondanError | undefined, isHandover: boolean): GoondanError {
  if (lost?.code !== 'E_FENCED') {
    const message = 'The swarm was stopped; the turn continues when it is started again.';
    return new GoondanError('E_SWARM_STOPPED', message, { retryable: isHandover });
  }
  return new GoondanError('E_SWARM_STOPPED', `${lost.message} The turn continues at another node.`, {
    suggestion: 'Nothing that was accepted is lost. Ask again with the same id, and the answer comes from that node.',
    cause: lost,
  });
}
