/**
 * The life of one connection's process, as one pure step: what is known, what happens, what is to be done.
 *
 * Invariants:
 * 1. From `start` to `drain` it has a process, is about to get one, or waits for the end of its backoff: nothing else
 *    ends it.
 * 2. At most one process: `seekProcess` alone spawns, without a process, and knows no exception to the backoff.
 * 3. Whatever ends a process before `drain` is a crash: also an exit with code 0, for a connector has no end.
 * 4. What an earlier process says is not heard.
 * 5. A process that was killed or asked to go ends: every way there kills or sets a deadline.
 */
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { afterCrash, afterHealthy } from '../supervision/backoff.ts';
import { answerPing, beat, firstHeartbeat } from '../supervision/heartbeat.ts';
import type {
  ConnectionAction,
  ConnectionInput,
  ConnectionPhase,
  ConnectionPolicy,
  ConnectionState,
  ConnectionStep,
  ConnectionTimer,
} from './connection-state.ts';

/** `now` is on the clock that only grows. */
export function stepConnection(
  state: ConnectionState,
  input: ConnectionInput,
  now: number,
  policy: ConnectionPolicy,
): ConnectionStep {
  const moment = { now, policy };
  switch (input.type) {
    case 'start':
      return state.phase.name === 'new' ? seekProcess(state, moment) : stay(state);
    case 'drain':
      return drain(state, input.graceMs, moment);
    case 'timer':
      return ring(state, input.timer, moment);
    default:
      return input.process === state.spawned ? hear(state, input, moment) : stay(state);
  }
}

interface Moment {
  readonly now: number;
  readonly policy: ConnectionPolicy;
}

function hear(
  state: ConnectionState,
  input: Extract<ConnectionInput, { readonly process: number }>,
  moment: Moment,
): ConnectionStep {
  switch (input.type) {
    case 'ready':
      return becomeReady(state, moment);
    case 'failed':
      return giveUp(state, input.error, input.isTold === true ? 'info' : 'error');
    case 'pong':
      return stay({ ...state, heartbeat: answerPing(state.heartbeat, input.n) });
    case 'exited':
      return loseProcess(state, input, moment);
  }
}

/** A timer says only that it is time to look: what is not due, or no longer the case, does nothing. */
function ring(state: ConnectionState, timer: ConnectionTimer, moment: Moment): ConnectionStep {
  const { phase } = state;
  const { now, policy } = moment;
  if (timer === 'backoff' && phase.name === 'waiting') return seekProcess(state, moment);
  if (timer === 'beat' && serves(phase)) return beatOnce(state, moment);
  if (timer === 'start' && phase.name === 'starting') {
    if (now < phase.deadline) return { state, actions: [setTimer('start', phase.deadline)] };
    return giveUp(state, problemOf(phase, `it did not listen within ${policy.startTimeoutMs} ms`));
  }
  if (timer === 'grace' && phase.name === 'draining') {
    if (now < phase.deadline) return { state, actions: [setTimer('grace', phase.deadline)] };
    const message = 'It did not end in time and is killed.';
    return {
      state: enter(state, { name: 'killed', afterwards: 'stop' }),
      actions: [kill, { type: 'report', level: 'warn', event: 'connection.stopped', message }],
    };
  }
  return stay(state);
}

/** Invariant 2. */
function seekProcess(state: ConnectionState, { now, policy }: Moment): ConnectionStep {
  const { notBefore } = state.restarts;
  if (notBefore > now) {
    return { state: enter(state, { name: 'waiting', until: notBefore }), actions: [setTimer('backoff', notBefore)] };
  }
  const process = state.spawned + 1;
  const deadline = now + policy.startTimeoutMs;
  return {
    state: { ...enter(state, { name: 'starting', deadline }), heartbeat: firstHeartbeat, spawned: process },
    actions: [
      { type: 'process.spawn', process },
      setTimer('start', deadline),
      setTimer('beat', now + policy.heartbeat.everyMs),
    ],
  };
}

function becomeReady(state: ConnectionState, { now }: Moment): ConnectionStep {
  // One that was told to go meanwhile has nothing to be ready for.
  if (state.phase.name !== 'starting') return stay(state);
  const message = `Process ${state.spawned} listens.`;
  return {
    state: enter(state, { name: 'listening', since: now }),
    actions: [clearTimer('start'), { type: 'report', level: 'info', event: 'connection.listening', message }],
  };
}

function beatOnce(state: ConnectionState, { now, policy }: Moment): ConnectionStep {
  const next = beat(state.heartbeat, policy.heartbeat);
  if (next.type === 'dead') return giveUp(state, problemOf(state.phase, 'it does not answer'));
  return {
    state: { ...state, heartbeat: next.heartbeat },
    actions: [{ type: 'process.ping', n: next.n }, setTimer('beat', now + policy.heartbeat.everyMs)],
  };
}

/** It failed, or hangs: it goes, and another one comes. */
function giveUp(state: ConnectionState, error: FrameError, level: 'info' | 'error' = 'error'): ConnectionStep {
  const { phase } = state;
  if (!serves(phase)) return stay(state);
  const message = `${error.code}: ${error.message}`;
  return {
    state: { ...enter(state, { name: 'killed', afterwards: 'restart', ...listenedSince(phase) }), problem: error },
    actions: [...clearTimers, kill, { type: 'report', level, event: 'connection.failed', message }],
  };
}

function loseProcess(
  state: ConnectionState,
  { process, code, signal }: Extract<ConnectionInput, { type: 'exited' }>,
  moment: Moment,
): ConnectionStep {
  const { phase } = state;
  if (phase.name === 'draining' || (phase.name === 'killed' && phase.afterwards === 'stop')) return stop(state);
  if (!serves(phase) && phase.name !== 'killed') return stay(state);
  const how = signal === null ? (code === null ? 'did not begin' : `ended with code ${code}`) : `ended by ${signal}`;
  // Invariant 3.
  const problem = phase.name === 'killed' ? state.problem : problemOf(phase, `its process ${how}`);
  const crashed = { ...countCrash(state, moment), ...(problem === undefined ? {} : { problem }) };
  const waitMs = Math.max(0, crashed.restarts.notBefore - moment.now);
  const message = `Process ${process} ${how}; the next one starts ${waitMs === 0 ? 'now' : `in ${Math.round(waitMs)} ms`}.`;
  const next = seekProcess(crashed, moment);
  return {
    state: next.state,
    actions: [...clearTimers, { type: 'report', level: 'warn', event: 'connection.exited', message }, ...next.actions],
  };
}

function drain(state: ConnectionState, graceMs: number, { now }: Moment): ConnectionStep {
  const { phase } = state;
  switch (phase.name) {
    case 'new':
    case 'waiting':
      return stop(state);
    case 'starting':
    case 'listening':
      return leave(state, graceMs, now);
    case 'draining':
      // The stricter of both counts.
      return now + graceMs < phase.deadline ? leave(state, graceMs, now) : stay(state);
    case 'killed':
      return stay(enter(state, { ...phase, afterwards: 'stop' }));
    case 'stopped':
      return stay(state);
  }
}

function leave(state: ConnectionState, graceMs: number, now: number): ConnectionStep {
  if (graceMs <= 0) {
    return { state: enter(state, { name: 'killed', afterwards: 'stop' }), actions: [...clearTimers, kill] };
  }
  const deadline = now + graceMs;
  return {
    state: enter(state, { name: 'draining', deadline }),
    actions: [...clearTimers, { type: 'process.drain', graceMs }, setTimer('grace', deadline)],
  };
}

function stop(state: ConnectionState): ConnectionStep {
  return {
    state: enter(state, { name: 'stopped' }),
    actions: [...clearTimers, { type: 'report', level: 'info', event: 'connection.stopped', message: 'Stopped.' }],
  };
}

function countCrash(state: ConnectionState, { now, policy }: Moment): ConnectionState {
  const { listenedSince: since } = listenedSince(state.phase);
  const rested = since === undefined ? state.restarts : afterHealthy(state.restarts, policy.restart, now - since);
  return { ...state, restarts: afterCrash(rested, policy.restart, now) };
}

/** It has a process that nobody has asked to go. */
function serves(phase: ConnectionPhase): phase is Extract<ConnectionPhase, { name: 'starting' | 'listening' }> {
  return phase.name === 'starting' || phase.name === 'listening';
}

/** Fits into the phase of one that was killed. */
function listenedSince(phase: ConnectionPhase): { readonly listenedSince?: number } {
  if (phase.name === 'listening') return { listenedSince: phase.since };
  return phase.name === 'killed' && phase.listenedSince !== undefined ? { listenedSince: phase.listenedSince } : {};
}

function problemOf(phase: ConnectionPhase, problem: string): FrameError {
  if (phase.name === 'starting') {
    return { code: 'E_CONNECTOR_START', message: `The connector did not start: ${problem}.` };
  }
  return { code: 'E_CONNECTOR_ENDED', message: `The connector ended: ${problem}.` };
}

function enter(state: ConnectionState, phase: ConnectionPhase): ConnectionState {
  return { ...state, phase };
}

function stay(state: ConnectionState): ConnectionStep {
  return { state, actions: [] };
}

const kill: ConnectionAction = { type: 'process.kill' };

function setTimer(timer: ConnectionTimer, at: number): ConnectionAction {
  return { type: 'timer.set', timer, at };
}

function clearTimer(timer: ConnectionTimer): ConnectionAction {
  return { type: 'timer.clear', timer };
}

/** Of whatever phase it was. */
const clearTimers: readonly ConnectionAction[] = (['backoff', 'start', 'beat', 'grace'] as const).map(clearTimer);
