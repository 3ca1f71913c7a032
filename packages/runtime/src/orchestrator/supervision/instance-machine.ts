/**
 * The state machine of one instance's process, as a pure function: a state and an input give the next state and the
 * actions.
 *
 * Invariants, to which comments in the other files of this folder refer by number:
 * 1. There is at most one process: a spawn follows `slot.granted` in the phase `inLine`, which is entered only without
 *    a process.
 * 2. At most one turn runs: `turn.send` and `turn.started` follow `ready` or the end of the previous turn, and concern
 *    the first event of the queue.
 * 3. An event leaves the queue only by its own `turn.done`, or because it is no longer in the inbox (`discard`). A
 *    crash sends the same event again.
 * 4. Events are sent in the order of their numbers. An event that arrives again while it is still queued is not queued
 *    twice. If the store refuses a turn because it has earlier input, that input is sent first, as soon as it arrives.
 * 5. Every start passes `seekProcess`, which never skips the backoff. Only `forgive` ends the backoff early. A request
 *    to an instance that does not start waits for the backoff too: its caller gets the error at once, and one start is
 *    tried when the backoff is over.
 * 6. After `crashesBeforeDeadLetter` crashes in its turn (19), or after its turn has ended `takeOversBeforeDeadLetter`
 *    nodes, an event is sent as a dead letter, and sent again until it is in the conversation. If a process crashes even
 *    then, waiting clients and agents get an error.
 * 7. Messages of an earlier process are ignored: frames carry the number of their process.
 * 8. A process that was killed or asked to end does end: every such step kills the process or sets a deadline.
 * 9. If the orchestrator kills a process because it is late, that is not a crash. If a process hangs or exits by
 *    itself, that is a crash, and it counts for the event of the running turn.
 * 10. After `startAttempts` failed starts in a row, waiting callers get an error at once, and so does the caller of
 *     every further event. The events stay, and starts continue with the backoff.
 * 11. If a start fails with an error that a retry alone does not change (`isFinal`), it is not tried again. Waiting
 *     callers get an error at once, and the events stay. The instance is `doesNotStart` until `forgive` or new work,
 *     which causes one more try each time. A turn that ended because the conversation is damaged has the same effect.
 * 12. A turn that the store ended (`isStoreFault`) is not a crash of its event, neither here nor in the log of the
 *     turn. Its process is started again with the backoff. Waiting callers get an error when the next start is further
 *     away than `startTimeoutMs`.
 * 13. A process that was asked to end may leave a turn that waits for people (`turn.left`): the event stays in the
 *     queue, and the end of that process is not a crash.
 * 14. A kept instance (`keep`: a connection) has a process even without work, until `drain` stops it. It never idles,
 *     every failed start is tried again, and a failure that its ready process reports ends that process. When its
 *     process is asked to end, the process has its whole grace, even if it does not answer.
 * 15. If a shared process ends while other conversations are open in it (`together`), that is not a crash of any of
 *     them: nobody knows which one caused it. An instance whose start or turn was interrupted gets a process of its own
 *     until its turn is committed and no event is left, and then leaves that process. A crash there counts.
 * 16. While a turn runs, its process may already have the next event (`ahead`), and no other. The process begins that
 *     event only after the commit of the running turn, and says so in `turn.done`. Otherwise the event is queued like
 *     any other: it is sent again when its turn comes, here or in the next process, and the end of a process is never
 *     counted against it. A process that was asked to end, or to return the event (`turn.back`), does not begin it.
 *     While the swarm stops (`isStopping`), nothing is handed ahead, and a turn begins only if a request of another
 *     agent is queued, because a running turn waits for it.
 * 17. An instance that moved to another node (`moved`) loses its process at once, and all its events. Nobody gets an
 *     error, and nothing counts as a crash: another node handles the events.
 * 18. While a turn runs, its process has the queued events that are for the running turn (`turn.steer`), at most the
 *     first 100 of them. The turn may take any of them, in the order of their numbers. Their commit is that of the turn, and `turn.done` says which ones
 *     it took (`took`). The others stay in the queue: the next turn may take them, and each that is first in the queue
 *     has a turn of its own. Such an event is never handed ahead.
 * 19. A process that does not answer may be known to be blocked in certain code (`blocked`). Two processes in a row that
 *     the same code blocks are enough: the event of the turn is sent as a dead letter, or the start fails for good (11).
 *     In a shared process, 15 holds, but the conversation whose code it is needs only one more time, alone.
 */
import { drain, killLate, leave, leaveTurn, leaveUnhurried } from './drain-process.ts';
import { judgeIdle } from './idle.ts';
import type { InstanceInput, InstanceState, InstanceTimer } from './instance-state.ts';
import { ignore, type InstanceStep, type Moment, setTimer, stay } from './instance-step.ts';
import { killHung, loseProcess, loseTurn } from './lose-process.ts';
import {
  acceptWork,
  becomeReady,
  cancelEvent,
  discard,
  finishTurn,
  forgetMoved,
  giveBack,
  takeBack,
} from './run-turns.ts';
import {
  failStart,
  forgive,
  keep,
  reportStart,
  seekProcess,
  markDamaged,
  startError,
  takeSlot,
} from './start-process.ts';
import type { SupervisionPolicy } from './supervision-policy.ts';

/** Handles one input. `now`: the time on the monotonic clock. */
export function stepInstance(
  state: InstanceState,
  input: InstanceInput,
  now: number,
  policy: SupervisionPolicy,
): InstanceStep {
  const moment = { now, policy };
  switch (input.type) {
    case 'work':
      return acceptWork(state, input, moment);
    case 'cancel':
      return cancelEvent(state, input);
    case 'takeBack':
      return takeBack(state);
    case 'keep':
      return keep(state, moment);
    case 'slot.granted':
      return takeSlot(state, moment);
    case 'hibernate':
      return state.phase.name === 'ready'
        ? leave(state, { graceMs: policy.hibernateGraceMs }, 'serve', moment)
        : stay(state);
    case 'leave':
      return leaveUnhurried(state, moment);
    case 'drain':
      return drain(state, input, moment);
    case 'forgive':
      return forgive(state, moment);
    case 'discard':
      return discard(state, input);
    case 'moved':
      return forgetMoved(state);
    case 'damaged':
      return markDamaged(state, input.error);
    case 'timer':
      return ring(state, input.timer, moment);
    default:
      return hear(state, input, moment);
  }
}

function hear(
  state: InstanceState,
  input: Extract<InstanceInput, { readonly process: number }>,
  moment: Moment,
): InstanceStep {
  if (input.process !== state.spawned)
    return ignore(state, `${input.type} was ignored: process ${input.process} is not the newest`);
  switch (input.type) {
    case 'ready':
      return becomeReady(state, input, moment);
    case 'start.failed':
      return failStart(state, input.error, moment);
    case 'turn.done':
      return finishTurn(state, input, moment);
    case 'turn.returned':
      return giveBack(state, input);
    case 'turn.left':
      return leaveTurn(state);
    case 'turn.lost':
      return loseTurn(state, input.error);
    case 'heartbeat.missed':
      return killHung(state, input, moment);
    case 'exited':
      return loseProcess(state, input, moment);
  }
}

/** Handles a timer that has fired. If nothing is due any more, nothing happens. */
function ring(state: InstanceState, timer: InstanceTimer, moment: Moment): InstanceStep {
  const { phase } = state;
  const { now, policy } = moment;
  if (timer === 'backoff' && phase.name === 'backoff') return seekProcess(state, moment);
  if (timer === 'start' && phase.name === 'starting') {
    if (now < phase.deadline) return { state, actions: [setTimer('start', phase.deadline)] };
    const problem = `it was not ready within ${policy.startTimeoutMs} ms (policy.startTimeoutMs)`;
    return reportStart(failStart(state, startError(problem), moment));
  }
  if (timer === 'idle' && phase.name === 'ready') {
    const work = { isRunning: false, pending: state.queue.length, idleSince: phase.idleSince };
    const verdict = judgeIdle(policy.idle, work, now);
    if (verdict.type === 'hibernate') return leave(state, { graceMs: policy.hibernateGraceMs }, 'serve', moment);
    return { state, actions: verdict.type === 'refetch' ? [setTimer('idle', verdict.at)] : [] };
  }
  if (timer === 'grace' && phase.name === 'draining') {
    return now < phase.deadline ? { state, actions: [setTimer('grace', phase.deadline)] } : killLate(state, phase);
  }
  return stay(state);
}
