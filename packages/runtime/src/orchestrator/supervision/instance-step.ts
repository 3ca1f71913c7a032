/**
 * One step of an instance: the next state and the actions. All files of the state machine use these types and
 * functions.
 */
import type { InstanceAction, InstanceState, InstanceTimer, Phase, QueuedEvent } from './instance-state.ts';
import type { SupervisionPolicy } from './supervision-policy.ts';

export interface InstanceStep {
  readonly state: InstanceState;
  /** Actions in order. */
  readonly actions: readonly InstanceAction[];
}

export interface Moment {
  /** The time on the monotonic clock. */
  readonly now: number;
  readonly policy: SupervisionPolicy;
}

export function enter(state: InstanceState, phase: Phase): InstanceState {
  return { ...state, phase };
}

export function stay(state: InstanceState): InstanceStep {
  return { state, actions: [] };
}

export function ignore(state: InstanceState, message: string): InstanceStep {
  return { state, actions: [{ type: 'report', level: 'warn', event: 'frame.ignored', message }] };
}

export function after(actions: readonly InstanceAction[], step: InstanceStep): InstanceStep {
  return { state: step.state, actions: [...actions, ...step.actions] };
}

export function hasProcess({ name }: Phase): boolean {
  return !WITHOUT_PROCESS.has(name);
}

const WITHOUT_PROCESS: ReadonlySet<Phase['name']> = new Set(['absent', 'backoff', 'doesNotStart', 'inLine', 'stopped']);

export function hasTurn(phase: Phase): phase is Extract<Phase, { name: 'busy' | 'draining' | 'killed' }> {
  return phase.name === 'busy' || ('hasTurn' in phase && phase.hasTurn);
}

/** Returns true if a turn of the event has run before. */
export function hasRun({ crashes, isExcused, takeOvers }: QueuedEvent): boolean {
  return crashes > 0 || isExcused === true || takeOvers !== undefined;
}

/** Returns true if the event is not run again (invariants 6 and 19 of the machine). */
export function isDeadLetter({ crashes, isGivenUp, takeOvers }: QueuedEvent, { policy }: Moment): boolean {
  return isGivenUp === true || takeOvers !== undefined || crashes >= policy.crashesBeforeDeadLetter;
}

/** Returns the time at which the process became ready, for the phase of an ending process. */
export function readySinceOf(phase: Phase): { readonly readySince?: number } {
  if (!('readySince' in phase) || phase.readySince === undefined) return {};
  return { readySince: phase.readySince };
}

export function kill({ spawned }: InstanceState): InstanceAction {
  return { type: 'process.kill', process: spawned };
}

export function setTimer(timer: InstanceTimer, at: number): InstanceAction {
  return { type: 'timer.set', timer, at };
}

export function clearTimer(timer: InstanceTimer): InstanceAction {
  return { type: 'timer.clear', timer };
}

/** Clears the timer of a phase. A phase has at most one timer, which would end the phase. */
export function clearTimerOf({ name }: Phase): InstanceAction[] {
  const timer = timerOf[name];
  return timer === undefined ? [] : [clearTimer(timer)];
}

const timerOf: Readonly<Partial<Record<Phase['name'], InstanceTimer>>> = {
  backoff: 'backoff',
  starting: 'start',
  ready: 'idle',
  draining: 'grace',
};
