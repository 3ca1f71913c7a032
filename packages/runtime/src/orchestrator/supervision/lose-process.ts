/** Handles a process that hangs or has exited: determines the cause, and decides the next step. */
import { afterCrash, afterHealthy, type RestartHistory } from './backoff.ts';
import { processName } from './describe-problem.ts';
import { stop } from './drain-process.ts';
import type { InstanceAction, InstanceInput, InstanceState, Phase, QueuedEvent } from './instance-state.ts';
import {
  after,
  clearTimerOf,
  enter,
  hasProcess,
  hasTurn,
  ignore,
  type InstanceStep,
  isDeadLetter,
  kill,
  type Moment,
  readySinceOf,
  stay,
} from './instance-step.ts';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { defined } from '../../json/defined.ts';
import { isFinal, isStoreFault, isTooEarly } from './start-failure.ts';
import {
  countFailedStart,
  failStart,
  hungStart,
  reportStart,
  seekProcess,
  startError,
  tellWaiting,
} from './start-process.ts';

export function killHung(
  state: InstanceState,
  { pid, blocked }: Extract<InstanceInput, { type: 'heartbeat.missed' }>,
  moment: Moment,
): InstanceStep {
  const { phase } = state;
  if (phase.name === 'starting') {
    return reportStart(failStart(state, hungStart(state, blocked), moment));
  }
  // Invariant 14: a kept process has its whole grace, even if it does not answer.
  const mayHang = phase.name === 'draining' && state.isKept !== true;
  if (phase.name !== 'ready' && phase.name !== 'busy' && !mayHang) return stay(state);
  const afterwards = phase.name === 'draining' ? phase.afterwards : 'serve';
  const message = `${processName(pid)} does not answer and is killed${blocked === undefined ? '' : `: it is ${blocked}`}.`;
  return {
    state: enter(state, { name: 'killed', why: 'hung', hasTurn: hasTurn(phase), afterwards, ...readySinceOf(phase) }),
    actions: [...clearTimerOf(phase), kill(state), { type: 'report', level: 'error', event: 'process.hung', message }],
  };
}

/**
 * Handles a turn that the store ended (invariant 12 of the machine). For any other cause, the process exits, and the
 * input `exited` handles the loss.
 */
export function loseTurn(state: InstanceState, error: FrameError): InstanceStep {
  const { phase } = state;
  if (!hasTurn(phase) || phase.name === 'killed')
    return ignore(state, `turn.lost was ignored: no turn runs (${error.message})`);
  if (!isStoreFault(error)) return stay(state);
  const afterwards = phase.name === 'draining' ? phase.afterwards : 'serve';
  const lost = { ...state, startError: error };
  return {
    state: enter(lost, { name: 'killed', why: 'store', hasTurn: true, afterwards, ...readySinceOf(phase) }),
    actions: [...clearTimerOf(phase), kill(state)],
  };
}

export function loseProcess(
  { takesAhead: _, ahead: __, ...lost }: InstanceState,
  { pid, code, signal, sharing, blocked }: Extract<InstanceInput, { type: 'exited' }>,
  moment: Moment,
): InstanceStep {
  const { phase } = lost;
  if (!hasProcess(phase)) return ignore(lost, 'exited was ignored: the instance has no process');
  const isCrash = endsInCrash(phase);
  const { lastBlocked: last, ...rest } = lost;
  const lastBlocked = blocked === undefined ? last : { code: blocked, at: moment.now };
  const state = isCrash ? { ...rest, ...defined({ lastBlocked }) } : rest;
  const hasEnded = sharing === 'together' || sharing === 'alone';
  const next = hasEnded && wasInterrupted(phase) ? { ...state, isAlone: true as const } : state;
  if (sharing === 'together' && isExcusable(phase)) return loseTogether(next, blocked, moment);
  const saidWhy = phase.name === 'killed' && (phase.why === 'startFailed' || phase.why === 'store');
  const ending = signal === null ? `with code ${code}` : `by ${signal}`;
  const how = blocked === undefined ? ending : `${ending}, ${blocked}`;
  const isUnexplained = isCrash && !saidWhy;
  const gone: InstanceAction[] = [...clearTimerOf(phase), { type: 'slot.release' }];
  if (sharing !== 'left') {
    const message = `${processName(pid)} ended ${how}${saidWhy ? '; an earlier line has the reason' : ''}.`;
    gone.push({ type: 'report', level: isUnexplained ? 'warn' : 'info', event: 'process.exited', message });
  } else if (isUnexplained) {
    // A conversation that is closed as usual needs no line: its process continues with the others.
    const message = `This conversation ended ${how} in process ${pid}, which continues with others.`;
    gone.push({ type: 'report', level: 'warn', event: 'process.exited', message });
  }
  const counted = { ...next, restarts: restartsAfter(state, isCrash, moment) };
  const { state: blamed, actions } = isCrash ? blame(counted, { how, blocked }, moment) : stay(counted);
  return after([...gone, ...actions], goOn(blamed, moment));
}

/**
 * Handles the end of a shared process that may be the fault of another conversation (invariant 15 of the machine). The process
 * reports its end once, for all its conversations. The code that blocked it is only noted: code of another conversation
 * may have gone on after it, without a name.
 */
function loseTogether(state: InstanceState, blocked: string | undefined, moment: Moment): InstanceStep {
  const { phase } = state;
  const gone: InstanceAction[] = [...clearTimerOf(phase), { type: 'slot.release' }];
  const rested = { ...state, restarts: restartsAfter(state, false, moment) };
  const excused = hasTurn(phase) ? { ...rested, queue: excuse(rested, moment, blocked) } : rested;
  return after(gone, goOn(excused, moment));
}

/** Returns true if the end of its process interrupts an instance in this phase. */
function wasInterrupted(phase: Phase): boolean {
  if (phase.name === 'killed' && phase.why === 'store') return false;
  return phase.name === 'starting' || phase.name === 'killed' || hasTurn(phase);
}

/** Returns false for an instance that is itself the reason why its process was killed. */
function isExcusable(phase: Phase): boolean {
  return endsInCrash(phase) && (phase.name !== 'killed' || phase.why === 'hung');
}

/** Returns true if the exit of a process in this phase is a crash (invariant 9 of the machine). */
function endsInCrash(phase: Phase): boolean {
  if (phase.name === 'draining') return phase.hasTurn;
  return phase.name !== 'killed' || phase.why !== 'late';
}

function restartsAfter({ phase, restarts }: InstanceState, isCrash: boolean, { now, policy }: Moment): RestartHistory {
  const { readySince } = readySinceOf(phase);
  const rested = readySince === undefined ? restarts : afterHealthy(restarts, policy.restart, now - readySince);
  return isCrash ? afterCrash(rested, policy.restart, now) : rested;
}

interface CrashCause {
  /** The exit code or the signal, in words. */
  readonly how: string;
  readonly blocked: string | undefined;
}

/** Counts a crash: of the start, if the process never became ready, otherwise of the running turn's event. */
function blame(state: InstanceState, { how, blocked }: CrashCause, moment: Moment): InstanceStep {
  if (state.phase.name === 'starting') {
    const error = blocked === undefined ? startError(`it ended ${how}`) : hungStart(state, blocked);
    const failed = countFailedStart(state, error);
    return reportStart({ state: failed, actions: tellWaiting(failed, moment) });
  }
  if (state.phase.name === 'killed' && state.phase.why === 'store') {
    const excused = hasTurn(state.phase) ? excuse(state, moment) : state.queue;
    const isEarly = state.startError !== undefined && isTooEarly(state.startError);
    const queue = isEarly ? excused.toSorted((left, right) => numberOf(left) - numberOf(right)) : excused;
    return { state: { ...state, queue }, actions: tellWaiting(state, moment) };
  }
  if (!hasTurn(state.phase)) return stay(state);
  const [running, ...others] = state.queue;
  if (running === undefined) return stay(state);
  // Invariant 6: the event is not the cause of the crash if its process died while it was only put aside.
  if (isDeadLetter(running, moment)) {
    const error = startError(`it ends ${how} before it can put an input aside`);
    const queue = [countCrash(running, running.blocked), ...others];
    return { state: { ...state, queue }, actions: [{ type: 'requests.fail', error }] };
  }
  const crashed = countCrash(running, blocked);
  const { event, crashes } = crashed;
  const letter = { type: 'event.deadLettered', event, ended: 'process', crashes, ...defined({ blocked }) } as const;
  return {
    state: { ...state, queue: [crashed, ...others] },
    actions: isDeadLetter(crashed, moment) ? [letter] : [],
  };
}

/** Counts the crash of a turn. The second one in a row in the same code is the last (invariant 19 of the machine). */
function countCrash(
  { isExcused: _, blocked: last, ...running }: QueuedEvent,
  blocked: string | undefined,
): QueuedEvent {
  const isGivenUp = blocked !== undefined && blocked === last;
  return { ...running, crashes: running.crashes + 1, ...defined({ blocked }), ...(isGivenUp ? { isGivenUp } : {}) };
}

/**
 * Marks the running event, so that this exit does not count as its crash (invariants 12 and 15 of the machine). `blocked`: the
 * code in which the process was blocked; a dead letter keeps the code that made it one.
 */
function excuse({ queue }: InstanceState, moment: Moment, blocked?: string): readonly QueuedEvent[] {
  const [running, ...others] = queue;
  if (running === undefined) return [];
  const { blocked: last, ...event } = running;
  const noted = isDeadLetter(running, moment) ? last : blocked;
  return [{ ...event, isExcused: true, ...defined({ blocked: noted }) }, ...others];
}

/** Returns the number by which an event is queued. Events that were handled before have none, and come last. */
function numberOf({ seq }: QueuedEvent): number {
  return seq > 0 ? seq : Number.MAX_SAFE_INTEGER;
}

/** Decides what follows when the instance has no process. */
function goOn(state: InstanceState, moment: Moment): InstanceStep {
  const { phase } = state;
  if ('afterwards' in phase && phase.afterwards === 'stop') return stop(state);
  if (hasFailedForGood(state)) return stay(enter(state, { name: 'doesNotStart' }));
  if (state.queue.length > 0 || state.isKept === true) return seekProcess(state, moment);
  return stay(enter(state, { name: 'absent' }));
}

/**
 * Returns true if a start failed for good (invariants 11 and 14). A process that was asked to end during its start did
 * not fail.
 */
export function hasFailedForGood({ phase, startError: error, isKept }: InstanceState): boolean {
  if (isKept === true || phase.name !== 'killed' || error === undefined || !isFinal(error)) return false;
  return phase.why === 'startFailed' || phase.why === 'store';
}
