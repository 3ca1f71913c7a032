/** From work without a process to a process that starts, or does not. */
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { InstanceAction, InstanceState } from './instance-state.ts';
import { noCrashes } from './backoff.ts';
import {
  after,
  clearTimer,
  enter,
  hasProcess,
  ignore,
  type InstanceStep,
  kill,
  type Moment,
  setTimer,
  stay,
} from './instance-step.ts';

/** Invariant 5: the one way to a process. */
export function seekProcess(state: InstanceState, { now }: Moment): InstanceStep {
  const { notBefore } = state.restarts;
  if (notBefore > now) {
    return { state: enter(state, { name: 'backoff', until: notBefore }), actions: [setTimer('backoff', notBefore)] };
  }
  return { state: enter(state, { name: 'inLine' }), actions: [{ type: 'slot.ask' }] };
}

export function forgive(state: InstanceState, moment: Moment): InstanceStep {
  const { startError: _, ...rest } = state;
  const forgiven = { ...rest, restarts: noCrashes, startFailures: 0 };
  if (state.phase.name !== 'backoff') return stay(forgiven);
  return after([clearTimer('backoff')], seekProcess(forgiven, moment));
}

/** Invariant 1: the one place that spawns. */
export function takeSlot(state: InstanceState, { now, policy }: Moment): InstanceStep {
  if (state.phase.name !== 'inLine') {
    // Granted to somebody who stopped meanwhile; one with a process keeps the slot that goes with it.
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
  if (state.phase.name !== 'starting') return ignore(state, `start.failed: it is not starting: ${error.message}`);
  const failed = countFailedStart(state, error);
  return {
    state: enter(failed, { name: 'killed', why: 'startFailed', hasTurn: false, afterwards: 'serve' }),
    actions: [clearTimer('start'), kill(state), reportStart(failed), ...tellWaiting(failed, moment)],
  };
}

export function countFailedStart(state: InstanceState, error: FrameError): InstanceState {
  return { ...state, startFailures: state.startFailures + 1, startError: error };
}

/** Invariant 10. */
export function tellWaiting({ startFailures, startError: error }: InstanceState, { policy }: Moment): InstanceAction[] {
  if (error === undefined || startFailures < policy.startAttempts) return [];
  return [{ type: 'requests.fail', error }];
}

export function startError(problem: string): FrameError {
  return { code: 'E_AGENT_START', message: `The agent's process could not start: ${problem}.` };
}

export function reportStart({ startFailures, startError: error }: InstanceState): InstanceAction {
  const message = `Start ${startFailures} in a row failed: ${error?.code} ${error?.message}`;
  return { type: 'report', level: 'error', event: 'start.failed', message };
}
