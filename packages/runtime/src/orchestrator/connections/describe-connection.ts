/** Describes a connection for people: its status, and the log line for a change of its state. */
import type { ConnectionStatus } from '../../control/swarm.ts';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { afterHealthy } from '../supervision/backoff.ts';
import { describeProblem, processName } from '../supervision/describe-problem.ts';
import type { InstanceInput, InstanceState, Phase } from '../supervision/instance-state.ts';
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
    // After a kill, another process may be started.
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

export interface ConnectionStep {
  readonly before: InstanceState;
  readonly input: InstanceInput;
  readonly after: InstanceState;
  readonly now: number;
  readonly policy: Pick<SupervisionPolicy, 'startTimeoutMs'>;
  /** The process that runs after the step. */
  readonly pid?: number | undefined;
}

export interface ToldStep {
  /** The failure of the connection's process; absent when the problem did not change. */
  readonly problem?: FrameError;
  readonly level: 'info' | 'warn' | 'error';
  readonly event: 'connection.listening' | 'connection.failed' | 'connection.exited' | 'connection.stopped';
  readonly message: string;
}

/** Describes a step for the log. Returns `undefined` for a step that needs no log line. */
export function tellStep({ before, input, after, now, policy, pid }: ConnectionStep): ToldStep | undefined {
  const { phase } = before;
  const { name } = after.phase;
  if (name === phase.name) return undefined;
  if (name === 'stopped') return { level: 'info', event: 'connection.stopped', message: 'Stopped.' };
  if (name === 'ready') {
    return { level: 'info', event: 'connection.listening', message: `${processName(pid)} listens.` };
  }
  if (input.type === 'exited') {
    const { code, signal } = input;
    const how = signal === null ? (code === null ? 'did not begin' : `ended with code ${code}`) : `ended by ${signal}`;
    const waitMs = Math.max(0, after.restarts.notBefore - now);
    const next = waitMs === 0 ? 'now' : `in ${Math.round(waitMs)} ms`;
    const message = `${processName(input.pid)} ${how}; the next one starts ${next}.`;
    // The problem of a killed process is already known.
    const problem = phase.name === 'killed' ? {} : { problem: problemOf(phase, `its process ${how}`) };
    return { ...problem, level: 'warn', event: 'connection.exited', message };
  }
  if (name !== 'killed') return undefined;
  if (input.type === 'start.failed') return failed(input.error);
  if (input.type === 'heartbeat.missed') return failed(problemOf(phase, 'it does not answer'));
  if (phase.name === 'starting' && input.type === 'timer') {
    return failed(problemOf(phase, `it did not listen within ${policy.startTimeoutMs} ms`));
  }
  if (phase.name !== 'draining' || input.type !== 'timer') return undefined;
  return { level: 'warn', event: 'connection.stopped', message: 'It did not end in time and is killed.' };
}

function failed(problem: FrameError): ToldStep {
  return {
    problem,
    level: 'error',
    event: 'connection.failed',
    message: `${problem.code}: ${problem.message}`,
  };
}

function problemOf({ name }: Phase, problem: string): FrameError {
  if (name === 'starting') return { code: 'E_CONNECTOR_START', message: `The connector did not start: ${problem}.` };
  return { code: 'E_CONNECTOR_ENDED', message: `The connector ended: ${problem}.` };
}
