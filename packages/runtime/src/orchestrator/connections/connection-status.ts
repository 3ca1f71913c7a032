import type { ConnectionStatus } from '../../control/swarm.ts';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import { afterHealthy } from '../supervision/backoff.ts';
import type { InstanceState, Phase } from '../supervision/instance-state.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';

/**
 * Describes a connection for status displays. The last problem is shown until the connection has been healthy for long
 * enough.
 */
export function connectionStatus(
  { phase, restarts }: InstanceState,
  problem: FrameError | undefined,
  now: number,
  policy: Pick<SupervisionPolicy, 'restart'>,
): Pick<ConnectionStatus, 'status' | 'crashes' | 'problem'> {
  const isReady = phase.name === 'ready';
  const { crashes } = isReady ? afterHealthy(restarts, policy.restart, now - phase.readySince) : restarts;
  return {
    status: statusOf(phase),
    crashes,
    ...(problem === undefined || (isReady && crashes === 0) ? {} : { problem: describeProblem(problem) }),
  };
}

function statusOf(phase: Phase): ConnectionStatus['status'] {
  switch (phase.name) {
    case 'starting':
      return 'starting';
    case 'ready':
    case 'busy':
      return 'listening';
    case 'backoff':
    case 'doesNotStart':
    case 'inLine':
      return 'waiting';
    // The process is ending, and the next one has not started yet.
    case 'killed':
      return phase.afterwards === 'serve' ? 'waiting' : 'stopped';
    // The connection receives no new events, though its process may still finish events it has received.
    case 'absent':
    case 'draining':
    case 'stopped':
      return 'stopped';
  }
}
