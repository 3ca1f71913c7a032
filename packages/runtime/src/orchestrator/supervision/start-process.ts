/** The steps of a start, from an instance that has work but no process to a process that starts or fails to start. */
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { InstanceAction, InstanceState } from './instance-state.ts';
import { backoffMs, noCrashes } from './backoff.ts';
import {
  after,
  clearTimerOf,
  enter,
  hasProcess,
  ignore,
  type InstanceStep,
  kill,
  type Moment,
  readySinceOf,
  setTimer,
  stay,
} from './instance-step.ts';
import { isFinal, isStoreFault } from './start-failure.ts';
import type { SupervisionPolicy } from './supervision-policy.ts';

/** The only place that requests a process, after the backoff (invariant 5 of the machine). */
export function seekProcess(state: InstanceState, { now }: Moment): InstanceStep {
  const { notBefore } = state.restarts;
  if (notBefore > now) {
    return { state: enter(state, { name: 'backoff', until: notBefore }), actions: [setTimer('backoff', notBefore)] };
  }
  return { state: enter(state, { name: 'inLine' }), actions: [{ type: 'slot.ask' }] };
}

/** Gives an instance a process even without work (invariant 14 of the machine). */
export function keep(state: InstanceState, moment: Moment): InstanceStep {
  return state.phase.name === 'absent' ? seekProcess({ ...state, isKept: true }, moment) : stay(state);
}

export function forgive(state: InstanceState, moment: Moment): InstanceStep {
  const { startError: _, ...rest } = state;
  const forgiven = { ...rest, restarts: noCrashes, startFailures: 0 };
  if (state.phase.name === 'doesNotStart' && state.queue.length === 0) return stay(enter(forgiven, { name: 'absent' }));
  if (state.phase.name !== 'backoff' && state.phase.name !== 'doesNotStart') return stay(forgiven);
  return after(clearTimerOf(state.phase), seekProcess(forgiven, moment));
}

/** Tries the start once more, because new work arrived (invariant 11 of the machine). */
export function tryAgain(state: InstanceState, moment: Moment): InstanceStep {
  const step = seekProcess(state, moment);
  return step.state.phase.name === 'backoff' ? after(tellWaiting(state, moment), step) : step;
}

/**
 * Marks an instance that has no process and an unreadable inbox (invariant 11 of the machine). The same problem is not
 * logged again.
 */
export function markDamaged(state: InstanceState, error: FrameError): InstanceStep {
  const { phase, startError: known } = state;
  if (hasProcess(phase) || phase.name === 'stopped')
    return ignore(state, `damaged was ignored: the instance has a process or is stopped (${error.message})`);
  const actions: InstanceAction[] = [...clearTimerOf(phase), { type: 'slot.release' }];
  if (known?.code !== error.code || known.message !== error.message) {
    const message = `This conversation does not start: ${error.code}: ${error.message}`;
    actions.push({ type: 'report', level: 'error', event: 'start.failed', message });
  }
  actions.push({ type: 'requests.fail', error });
  return { state: enter({ ...state, startError: error }, { name: 'doesNotStart' }), actions };
}

/** The only place that spawns the process (invariant 1 of the machine). */
export function takeSlot(state: InstanceState, { now, policy }: Moment): InstanceStep {
  if (state.phase.name !== 'inLine') {
    // The instance stopped meanwhile. If it has a process, the process keeps the slot.
    return { state, actions: hasProcess(state.phase) ? [] : [{ type: 'slot.release' }] };
  }
  const spawned = state.spawned + 1;
  const deadline = now + policy.startTimeoutMs;
  return {
    state: { ...enter(state, { name: 'starting', deadline }), spawned },
    actions: [{ type: 'process.spawn', process: spawned }, setTimer('start', deadline)],
  };
}

export function failStart(state: InstanceState, error: FrameError, moment: Moment): InstanceStep {
  const { phase } = state;
  // Invariant 14: a kept process may fail after it was ready.
  const isUp = phase.name === 'ready' && state.isKept === true;
  if (phase.name !== 'starting' && !isUp)
    return ignore(state, `start.failed was ignored: the process is not starting (${error.message})`);
  const failed = countFailedStart(state, error);
  const killed = { name: 'killed', why: 'startFailed', hasTurn: false, afterwards: 'serve' } as const;
  return {
    state: enter(failed, { ...killed, ...readySinceOf(phase) }),
    actions: [...clearTimerOf(phase), kill(state), ...tellWaiting(failed, moment)],
  };
}

export function countFailedStart(state: InstanceState, error: FrameError): InstanceState {
  return { ...state, startFailures: state.startFailures + 1, startError: error };
}

/** Fails the waiting requests when no start is likely to succeed soon (invariants 10, 11 and 12). */
export function tellWaiting(state: InstanceState, { policy }: Moment): InstanceAction[] {
  const { startError: error } = state;
  if (error === undefined || !isHopeless(error, state, policy)) return [];
  return [{ type: 'requests.fail', error }];
}

function isHopeless(error: FrameError, { startFailures, restarts }: InstanceState, policy: SupervisionPolicy): boolean {
  if (isFinal(error)) return true;
  // A shared store that is away is waited for, and the time limits of requests go on.
  if (error.code === 'E_STORE_AWAY') return false;
  if (isStoreFault(error)) return backoffMs(restarts.crashes, policy.restart) >= patienceMs(policy);
  return startFailures >= policy.startAttempts;
}

/**
 * Returns how long callers should wait at most: as long as a start may take, but not longer than the longest backoff.
 */
function patienceMs({ startTimeoutMs, restart }: SupervisionPolicy): number {
  return Math.min(startTimeoutMs, restart.maxMs);
}

export function startError(problem: string): FrameError {
  return { code: 'E_AGENT_START', message: `The agent's process could not start: ${problem}.` };
}

/** Makes the error of a start that did not answer. The second one in the same code is final (invariant 19). */
export function hungStart({ startError: last }: InstanceState, blocked: string | undefined): FrameError {
  if (blocked === undefined) return startError('it did not answer while it started');
  const error = startError(`it was ${blocked}`);
  return last?.message === error.message ? { ...error, retryable: false } : error;
}

/** Adds a log line for a failed start that the process itself did not log. */
export function reportStart({ state, actions }: InstanceStep): InstanceStep {
  const { startFailures, startError: error } = state;
  const message = `Start ${startFailures} in a row failed: ${error?.code} ${error?.message}`;
  return { state, actions: [...actions, { type: 'report', level: 'error', event: 'start.failed', message }] };
}
