/** The queue of an instance: events are added, given to the process in order, and removed when handled. */
import { defined } from '../../json/defined.ts';
import {
  type InstanceAction,
  type InstanceInput,
  type InstanceState,
  newInstance,
  type QueuedEvent,
} from './instance-state.ts';
import {
  after,
  clearTimer,
  clearTimerOf,
  enter,
  hasProcess,
  hasRun,
  hasTurn,
  ignore,
  type InstanceStep,
  isDeadLetter,
  kill,
  type Moment,
  setTimer,
  stay,
} from './instance-step.ts';
import { leave } from './drain-process.ts';
import { judgeIdle } from './idle.ts';
import { seekProcess, tellWaiting, tryAgain } from './start-process.ts';
import { isFinal } from './start-failure.ts';
import { isForRunningTurn, steerAll, steerNew, tellCancelled } from './steer-turn.ts';

export function acceptWork(
  state: InstanceState,
  work: Extract<InstanceInput, { type: 'work' }>,
  moment: Moment,
): InstanceStep {
  const { seq, event, cancelled, isExcused } = work;
  const told: InstanceAction[] = isBeingTried(state) ? [] : [...tellWaiting(state, moment)];
  if (state.queue.some((queued) => queued.event.id === event.id)) {
    return state.phase.name === 'doesNotStart' ? tryAgain(state, moment) : { state, actions: told };
  }
  const { crashes = 0 } = work;
  const takeOvers = (work.takeOvers ?? 0) >= moment.policy.takeOversBeforeDeadLetter ? work.takeOvers : undefined;
  if (takeOvers !== undefined) told.push({ type: 'event.deadLettered', event, ended: 'node', crashes: takeOvers });
  const entry = { seq, event, crashes, ...defined({ cancelled, isExcused, takeOvers }) };
  const queued = { ...state, queue: addInOrder(state, entry) };
  switch (state.phase.name) {
    case 'absent':
      return after(told, seekProcess(queued, moment));
    case 'doesNotStart':
      return tryAgain(queued, moment);
    case 'ready':
      return after([clearTimer('idle')], takeNext(queued, moment, state.phase.readySince));
    case 'busy':
      return after([...told, ...steerNew(queued, entry)], handAhead(queued, moment));
    default:
      return { state: queued, actions: [...told, ...steerNew(queued, entry)] };
  }
}

/** Adds an event before those with higher numbers, but not before those that the process has (invariant 4 of the machine). */
function addInOrder({ queue, phase, ahead }: InstanceState, entry: QueuedEvent): readonly QueuedEvent[] {
  const given = (hasTurn(phase) ? 1 : 0) + (ahead === undefined ? 0 : 1);
  const later = queue.findIndex(({ seq }, index) => index >= given && entry.seq > 0 && seq > entry.seq);
  return later < 0 ? [...queue, entry] : queue.toSpliced(later, 0, entry);
}

/** Returns true if another start is being tried after a final error. The running start reports its own outcome. */
function isBeingTried({ phase: { name }, startError: error }: InstanceState): boolean {
  const isTried = name === 'inLine' || name === 'starting' || name === 'draining';
  return isTried && error !== undefined && isFinal(error);
}

export function cancelEvent(state: InstanceState, input: Extract<InstanceInput, { type: 'cancel' }>): InstanceStep {
  const { eventId, reason } = input;
  const index = state.queue.findIndex(({ event, cancelled }) => event.id === eventId && cancelled === undefined);
  if (index < 0) return stay(state);
  const queue = state.queue.map((queued, at) => (at === index ? { ...queued, cancelled: reason } : queued));
  const isRunning = index === 0 && hasTurn(state.phase);
  const isForTurn =
    hasTurn(state.phase) && state.queue.some(({ event }) => event.id === eventId && isForRunningTurn(event));
  // A process that has the event, or has just begun it, gets the cancel too.
  const isTold = isRunning || isForTurn || state.ahead === eventId;
  return {
    state: { ...state, queue },
    actions: isTold ? [{ type: 'turn.cancel', process: state.spawned, eventId, reason }] : [],
  };
}

export function becomeReady(
  state: InstanceState,
  { takesAhead }: Extract<InstanceInput, { type: 'ready' }>,
  moment: Moment,
): InstanceStep {
  // A process that was asked to end meanwhile gets no work.
  if (state.phase.name !== 'starting') return stay(state);
  const { startError: _, ...rest } = state;
  const ready = { ...rest, startFailures: 0, ...(takesAhead === undefined ? {} : { takesAhead }) };
  return after([clearTimer('start')], takeNext(ready, moment, moment.now));
}

/** Removes a finished event from the queue, and those that its turn has taken (invariants 3 and 18 of the machine). */
export function finishTurn(
  state: InstanceState,
  { eventId, outcome, took = [], begins }: Extract<InstanceInput, { type: 'turn.done' }>,
  moment: Moment,
): InstanceStep {
  const { phase } = state;
  const [running, ...others] = state.queue;
  if (!hasTurn(phase) || running?.event.id !== eventId)
    return ignore(state, `turn.done was ignored: ${eventId} does not run`);
  const queue = others.filter(({ event }) => !took.includes(event.id));
  const taken = others.filter(({ event }) => took.includes(event.id));
  const finished: InstanceAction[] = [
    { type: 'turn.finished', event: running.event, outcome },
    ...taken.map(
      ({ event }) =>
        ({ type: 'turn.finished', event, outcome, isTaken: true, traceId: running.event.traceId }) as const,
    ),
  ];
  const { ahead, ...rest } = state;
  const [next] = queue;
  if (next !== undefined && begins === next.event.id && begins === ahead) {
    // The phase stays: the process runs a turn, whatever it was asked meanwhile.
    const begun = { ...rest, queue };
    const started = { type: 'turn.started', event: next.event } as const;
    return after([...finished, started, ...steerAll(begun)], handAhead(begun, moment));
  }
  if (phase.name === 'busy') return after(finished, takeNext({ ...rest, queue }, moment, phase.readySince));
  return { state: { ...rest, queue, phase: { ...phase, hasTurn: false } }, actions: finished };
}

/** Removes all events from the queue, together with their crash counts (invariant 3 of the machine). */
export function discard(state: InstanceState, { error }: Extract<InstanceInput, { type: 'discard' }>): InstanceStep {
  const { phase, queue, spawned } = state;
  if (hasProcess(phase)) return ignore(state, 'discard was ignored: the instance has a process');
  const isStopped = phase.name === 'stopped';
  const actions: InstanceAction[] = isStopped ? [] : [...clearTimerOf(phase), { type: 'slot.release' }];
  if (queue.length > 0) actions.push({ type: 'requests.fail', error });
  return { state: { ...newInstance, spawned, ...(isStopped ? { phase } : {}) }, actions };
}

/** Forgets the events of an instance that moved, and kills its process (invariant 17 of the machine). */
export function forgetMoved(state: InstanceState): InstanceStep {
  const { phase, spawned, restarts } = state;
  if (phase.name === 'stopped') return stay({ ...state, queue: [] });
  if (!hasProcess(phase)) {
    return { state: { ...newInstance, spawned }, actions: [...clearTimerOf(phase), { type: 'slot.release' }] };
  }
  const afterwards = 'afterwards' in phase ? phase.afterwards : 'serve';
  const killed = { name: 'killed', why: 'late', hasTurn: false, afterwards } as const;
  return {
    state: { ...newInstance, spawned, restarts, phase: killed },
    actions: [...clearTimerOf(phase), kill(state)],
  };
}

/** Starts the next turn, or becomes idle. */
function takeNext(state: InstanceState, moment: Moment, readySince: number): InstanceStep {
  if (mayBegin(state, moment)) return sendNext(state, moment, readySince);
  if (state.isAlone === true && state.queue.length === 0) return leaveOwnProcess(state, moment, readySince);
  const ready = { name: 'ready', readySince, idleSince: moment.now } as const;
  // Invariant 14: a kept process never idles.
  return { state: enter(state, ready), actions: state.isKept === true ? [] : watchIdle(moment, ready.idleSince) };
}

/** Returns true if the next turn may begin (invariant 16 of the machine). */
function mayBegin({ queue }: InstanceState, { policy }: Moment): boolean {
  return policy.isStopping ? queue.some(({ event }) => event.replyTo !== undefined) : queue.length > 0;
}

/** Leaves the process that the instance had for itself: its next work is for a shared one (invariant 15). */
function leaveOwnProcess({ isAlone: _, ...state }: InstanceState, moment: Moment, readySince: number): InstanceStep {
  const ready = enter(state, { name: 'ready', readySince, idleSince: moment.now });
  return leave(ready, { graceMs: moment.policy.hibernateGraceMs }, 'serve', moment);
}

function watchIdle({ now, policy }: Moment, idleSince: number): InstanceAction[] {
  const verdict = judgeIdle(policy.idle, { isRunning: false, pending: 0, idleSince }, now);
  if (verdict.type === 'stay') return [];
  return [setTimer('idle', verdict.type === 'refetch' ? verdict.at : now)];
}

/** The only place that sends a turn (invariant 2 of the machine). */
function sendNext(state: InstanceState, moment: Moment, readySince: number): InstanceStep {
  const [next] = state.queue;
  if (next === undefined) return stay(state);
  const process = state.spawned;
  const { seq, event, cancelled, isExcused, blocked, takeOvers } = next;
  const deadLetter = isDeadLetter(next, moment);
  const more = defined({ isExcused, blocked, takeOvers });
  const busy = enter(state, { name: 'busy', readySince });
  const actions: InstanceAction[] = [
    ...tellCancelled(busy),
    { type: 'turn.send', process, seq, event, deadLetter, ...more },
    ...steerAll(busy),
  ];
  // Sent before the turn, so that a cancelled turn does not begin its work.
  if (cancelled !== undefined) actions.unshift({ type: 'turn.cancel', process, eventId: event.id, reason: cancelled });
  return after(actions, handAhead(busy, moment));
}

/**
 * Hands the next event to a process that runs a turn (invariant 16 of the machine). An event that is cancelled, or whose
 * turn has run before, is sent when its turn comes.
 */
function handAhead(state: InstanceState, { policy }: Moment): InstanceStep {
  const { phase, queue, takesAhead, ahead, spawned: process } = state;
  const [, next] = queue;
  if (phase.name !== 'busy' || takesAhead !== true || ahead !== undefined || next === undefined) return stay(state);
  if (policy.isStopping || next.cancelled !== undefined || hasRun(next)) return stay(state);
  // The running turn has it, and may take it.
  if (isForRunningTurn(next.event)) return stay(state);
  const { seq, event } = next;
  return { state: { ...state, ahead: event.id }, actions: [{ type: 'turn.ahead', process, seq, event }] };
}

/** Asks the process for the event that it was handed ahead. Until it has answered, it may have begun the event. */
export function takeBack(state: InstanceState): InstanceStep {
  const { ahead: eventId, spawned: process } = state;
  return { state, actions: eventId === undefined ? [] : [{ type: 'turn.back', process, eventId }] };
}

export function giveBack(
  state: InstanceState,
  { eventId }: Extract<InstanceInput, { type: 'turn.returned' }>,
): InstanceStep {
  const { ahead, ...rest } = state;
  return stay(ahead === eventId ? rest : state);
}
