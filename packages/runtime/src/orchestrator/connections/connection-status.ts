import type { ConnectionStatus } from '../../control/swarm-control.ts';
import { describeProblem } from '../describe-problem.ts';
import { afterHealthy } from '../supervision/backoff.ts';
import type { ConnectionPhase, ConnectionPolicy, ConnectionState } from './connection-state.ts';

/** How a connection looks from outside. Its last problem is told until it has been healthy for long enough. */
export function connectionStatus(
  { phase, restarts, problem }: ConnectionState,
  now: number,
  policy: ConnectionPolicy,
): Pick<ConnectionStatus, 'status' | 'crashes' | 'problem'> {
  const { crashes } = phase.name === 'listening' ? afterHealthy(restarts, policy.restart, now - phase.since) : restarts;
  const isHealthy = phase.name === 'listening' && crashes === 0;
  return {
    status: statusOf(phase),
    crashes,
    ...(problem === undefined || isHealthy ? {} : { problem: describeProblem(problem) }),
  };
}

function statusOf(phase: ConnectionPhase): ConnectionStatus['status'] {
  switch (phase.name) {
    case 'starting':
    case 'listening':
    case 'waiting':
      return phase.name;
    // It ends, and the next one is not there yet.
    case 'killed':
      return phase.afterwards === 'restart' ? 'waiting' : 'stopped';
    // It hears nothing any more, though its process may still finish what it heard.
    case 'new':
    case 'draining':
    case 'stopped':
      return 'stopped';
  }
}
