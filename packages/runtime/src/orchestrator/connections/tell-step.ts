/** Describes one step of a connection for people: the line in the log, and the problem in its status. */
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { InstanceInput, InstanceState, Phase } from '../supervision/instance-state.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';

export interface ConnectionStep {
  readonly before: InstanceState;
  readonly input: InstanceInput;
  readonly after: InstanceState;
  readonly now: number;
  readonly policy: Pick<SupervisionPolicy, 'startTimeoutMs'>;
}

export interface ToldStep {
  /** The failure of the connection's process; absent when the problem did not change. */
  readonly problem?: FrameError;
  readonly level: 'info' | 'warn' | 'error';
  readonly event: 'connection.listening' | 'connection.failed' | 'connection.exited' | 'connection.stopped';
  readonly message: string;
}

/** Returns `undefined` for a step that needs no report. */
export function tellStep({ before, input, after, now, policy }: ConnectionStep): ToldStep | undefined {
  const { phase } = before;
  const { name } = after.phase;
  if (name === phase.name) return undefined;
  if (name === 'stopped') return { level: 'info', event: 'connection.stopped', message: 'Stopped.' };
  if (name === 'ready') {
    return { level: 'info', event: 'connection.listening', message: `Process ${after.spawned} listens.` };
  }
  if (input.type === 'exited') {
    const { process, code, signal } = input;
    const how = signal === null ? (code === null ? 'did not begin' : `ended with code ${code}`) : `ended by ${signal}`;
    const waitMs = Math.max(0, after.restarts.notBefore - now);
    const next = waitMs === 0 ? 'now' : `in ${Math.round(waitMs)} ms`;
    const message = `Process ${process} ${how}; the next one starts ${next}.`;
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
