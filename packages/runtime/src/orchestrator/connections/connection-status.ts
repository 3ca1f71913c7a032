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
    // After a kill the next process may follow.
    status: phase.name === 'killed' && phase.afterwards === 'serve' ? 'waiting' : statusByPhase[phase.name],
    crashes,
    ...(problem === undefined || (isReady && crashes === 0) ? {} : { problem: describeProblem(problem) }),
  };
}

const statusByPhase: Readonly<Record<Phase['name'], ConnectionStatus['status']>> = {
  starting: 'starting',
  ready: 'listening',
  busy: 'listening',
  backoff: 'waiting',
  doesNotStart: 'waiting',
  inLine: 'waiting',
  killed: 'stopped',
  absent: 'stopped',
  // The connection receives no new events, though its process may still finish events it has received.
  draining: 'stopped',
  stopped: 'stopped',
};
