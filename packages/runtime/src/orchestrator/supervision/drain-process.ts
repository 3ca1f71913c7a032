/** Asks a process to end, and kills it if it does not. */
import { defined } from '../../json/defined.ts';
import type { Afterwards, InstanceInput, InstanceState, Phase } from './instance-state.ts';
import {
  after,
  clearTimerOf,
  enter,
  hasTurn,
  ignore,
  type InstanceStep,
  kill,
  type Moment,
  readySinceOf,
  setTimer,
  stay,
} from './instance-step.ts';

export function drain(
  state: InstanceState,
  { graceMs, cleanUpMs, afterwards }: Extract<InstanceInput, { type: 'drain' }>,
  moment: Moment,
): InstanceStep {
  const { phase } = state;
  switch (phase.name) {
    case 'absent':
    case 'backoff':
    case 'doesNotStart':
    case 'inLine':
      if (afterwards === 'serve') return stay(state);
      return after([...clearTimerOf(phase), { type: 'slot.release' }], stop(state));
    case 'starting':
    case 'ready':
    case 'busy':
      return leave(state, { graceMs, cleanUpMs }, afterwards, moment);
    case 'draining':
      return hurry(state, phase, { graceMs, afterwards }, moment);
    case 'killed':
      return stay(afterwards === 'stop' ? enter(state, { ...phase, afterwards }) : state);
    case 'stopped':
      return stay(state);
  }
}

export interface Grace {
  readonly graceMs: number;
  readonly cleanUpMs?: number | undefined;
  /** True if the process may wait for people, even if that takes days. */
  readonly isUnhurried?: true;
}

/**
 * Asks a process to end while its turn waits for people. If an answer arrives meanwhile, or the turn does other work,
 * the process finishes its turn first.
 */
export function leaveUnhurried(state: InstanceState, moment: Moment): InstanceStep {
  return state.phase.name === 'busy'
    ? leave(state, { graceMs: UNHURRIED_MS, isUnhurried: true }, 'serve', moment)
    : stay(state);
}

/** 20 days: close to the longest timer, but leaves room for the time that the process itself adds. */
const UNHURRIED_MS = 1_728_000_000;

/** Asks the process to end. */
export function leave(
  state: InstanceState,
  { graceMs, cleanUpMs, isUnhurried }: Grace,
  afterwards: Afterwards,
  { now }: Moment,
): InstanceStep {
  const { phase } = state;
  const leaving = { hasTurn: hasTurn(phase), afterwards, ...readySinceOf(phase) };
  if (graceMs <= 0) {
    return {
      state: enter(state, { name: 'killed', why: 'late', ...leaving }),
      actions: [...clearTimerOf(phase), kill(state)],
    };
  }
  const deadline = now + graceMs;
  return {
    state: enter(state, { name: 'draining', deadline, ...leaving }),
    actions: [
      ...clearTimerOf(phase),
      { type: 'process.drain', process: state.spawned, graceMs, ...defined({ cleanUpMs, isUnhurried }) },
      setTimer('grace', deadline),
    ],
  };
}

/** Ends the process without finishing the turn: its work is on disk, and the next process continues it. */
export function leaveTurn(state: InstanceState): InstanceStep {
  const { phase } = state;
  if (phase.name !== 'draining')
    return ignore(state, 'turn.left was ignored: the process was not asked to leave its turn');
  return stay(enter(state, { ...phase, hasTurn: false }));
}

/** Kills a process whose grace has ended. */
export function killLate(state: InstanceState, phase: Extract<Phase, { name: 'draining' }>): InstanceStep {
  const { deadline: _, ...leaving } = phase;
  return { state: enter(state, { ...leaving, name: 'killed', why: 'late' }), actions: [kill(state)] };
}

export function stop(state: InstanceState): InstanceStep {
  const message = `Stopped, with ${state.queue.length} events left for the next start.`;
  return {
    state: enter(state, { name: 'stopped' }),
    actions: [{ type: 'report', level: 'info', event: 'instance.stopped', message }],
  };
}

/** Handles a second drain. The stricter of the two drains applies. */
function hurry(
  state: InstanceState,
  phase: Extract<Phase, { name: 'draining' }>,
  asked: { readonly graceMs: number; readonly afterwards: Afterwards },
  moment: Moment,
): InstanceStep {
  const afterwards = phase.afterwards === 'stop' ? 'stop' : asked.afterwards;
  if (moment.now + asked.graceMs >= phase.deadline) return stay(enter(state, { ...phase, afterwards }));
  return leave(state, asked, afterwards, moment);
}
