/**
 * Describes a kept process, of a connection or a keeper, for people: its status, and the log line for a change of its
 * state.
 */
import type { ErrorCode } from '@goondan/types';
import type { ConnectionStatus } from '../../control/swarm.ts';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { afterHealthy } from './backoff.ts';
import { describeProblem, processName } from './describe-problem.ts';
import type { InstanceInput, InstanceState, Phase } from './instance-state.ts';
import type { SupervisionPolicy } from './supervision-policy.ts';

/**
 * Describes a kept process for status displays. The last problem is shown until the process has been healthy for long
 * enough.
 */
export function keptStatus(
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
  // It accepts nothing new, though its process may still finish its work.
  draining: 'stopped',
  stopped: 'stopped',
};

/** The words for one kind of kept process in log lines and errors. */
export interface KeptWords {
  readonly kind: 'connection' | 'keeper';
  /** The program that the process runs, such as `The connector`. */
  readonly program: string;
  readonly startCode: ErrorCode;
  readonly endCode: ErrorCode;
}

export interface KeptStep {
  readonly before: InstanceState;
  readonly input: InstanceInput;
  readonly after: InstanceState;
  readonly now: number;
  readonly policy: Pick<SupervisionPolicy, 'startTimeoutMs'>;
  /** The process that runs after the step. */
  readonly pid?: number | undefined;
}

export interface ToldStep {
  /** The failure of the process; absent when the problem did not change. */
  readonly problem?: FrameError;
  readonly level: 'info' | 'warn' | 'error';
  readonly event: `${KeptWords['kind']}.${'listening' | 'failed' | 'exited' | 'stopped'}`;
  readonly message: string;
}

/** Describes a step for the log. Returns `undefined` for a step that needs no log line. */
export function tellKeptStep(
  { before, input, after, now, policy, pid }: KeptStep,
  words: KeptWords,
): ToldStep | undefined {
  const { kind } = words;
  const { phase } = before;
  const { name } = after.phase;
  if (name === phase.name) return undefined;
  if (name === 'stopped') return { level: 'info', event: `${kind}.stopped`, message: 'Stopped.' };
  if (name === 'ready') {
    return { level: 'info', event: `${kind}.listening`, message: `${processName(pid)} listens.` };
  }
  if (input.type === 'exited') {
    const { code, signal } = input;
    const how = signal === null ? (code === null ? 'did not begin' : `ended with code ${code}`) : `ended by ${signal}`;
    const waitMs = Math.max(0, after.restarts.notBefore - now);
    const next = waitMs === 0 ? 'now' : `in ${Math.round(waitMs)} ms`;
    const message = `${processName(input.pid)} ${how}; the next one starts ${next}.`;
    // The problem of a killed process is already known.
    const problem = phase.name === 'killed' ? {} : { problem: problemOf(words, phase, `its process ${how}`) };
    return { ...problem, level: 'warn', event: `${kind}.exited`, message };
  }
  if (name !== 'killed') return undefined;
  if (input.type === 'start.failed') return failed(kind, input.error);
  if (input.type === 'heartbeat.missed') return failed(kind, problemOf(words, phase, 'it does not answer'));
  if (phase.name === 'starting' && input.type === 'timer') {
    return failed(kind, problemOf(words, phase, `it did not listen within ${policy.startTimeoutMs} ms`));
  }
  if (phase.name !== 'draining' || input.type !== 'timer') return undefined;
  return { level: 'warn', event: `${kind}.stopped`, message: 'It did not end in time and is killed.' };
}

function failed(kind: KeptWords['kind'], problem: FrameError): ToldStep {
  return {
    problem,
    level: 'error',
    event: `${kind}.failed`,
    message: `${problem.code}: ${problem.message}`,
  };
}

function problemOf({ program, startCode, endCode }: KeptWords, { name }: Phase, problem: string): FrameError {
  if (name === 'starting') return { code: startCode, message: `${program} did not start: ${problem}.` };
  return { code: endCode, message: `${program} ended: ${problem}.` };
}
