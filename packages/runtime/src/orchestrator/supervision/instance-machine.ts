/**
 * The life of one instance's process, as one pure step: what is known, what happens, what is to be done.
 *
 * Invariants (the other files of a step cite them):
 * 1. At most one process: a spawn follows `slot.granted` in `inLine`, and `inLine` is entered without a process only.
 * 2. At most one turn: `turn.send` follows `ready` or the end of the turn before, and is for the first of the queue.
 * 3. An event leaves the queue by its own `turn.done`, or because it is no longer in the inbox (`discard`), and by
 *    nothing else: a crash sends the same event again.
 * 4. Events are sent in the order in which they came; an event that came again while it is queued is the same one.
 * 5. Every start passes `seekProcess`, which knows no exception to the backoff; only a person can end one (`forgive`).
 *    Somebody who asks an instance that does not start is no exception either: they are told at once, and the one try
 *    that they get comes when the backoff is over.
 * 6. After `crashesBeforeDeadLetter` crashes in its turn an event is sent as a dead letter, until that is done. Clients
 *    and agents that wait are told when a process ends even then.
 * 7. What an earlier process says is not heard: frames carry the number of their process.
 * 8. A process that was killed or asked to go ends: every way there sets a deadline or kills.
 * 9. Killed by us for being late is no crash; hung, or gone by itself, is one, and the running event's if a turn ran.
 * 10. After `startAttempts` failed starts in a row, who waits for an answer is told at once, then and with every
 *     further event; the events stay, and starts go on under the backoff.
 * 11. An instance whose start failed with an error that another try alone does not change (`isFinal`) is tried once:
 *     who waits is told at once, its events stay, and it is `doesNotStart` until new work comes (one try each time), or
 *     `forgive`. A turn that ended because the conversation is damaged is the same.
 * 12. A turn that the store ended (`isStoreFault`) is no crash of its event, here or in the log of the turn. Its process
 *     is started again under the backoff; who waits is told when the next start is further away than `startTimeoutMs`.
 * 13. A turn that waits for people may be left by a process that was asked to go (`turn.left`): its event stays in the
 *     queue, and the end of that process is no crash.
 * 14. One that is kept (`keep`: a connection) has a process whether there is work or not, until `drain` stops it. It never
 *     idles, every start that failed is tried again, and a failure that its ready process reports ends that process. One
 *     that was asked to go has all of its grace, whether it answers or not.
 */
import { drain, killLate, leave, leaveTurn, leaveUnhurried } from './drain-process.ts';
import { judgeIdle } from './idle.ts';
import type { InstanceInput, InstanceState, InstanceTimer } from './instance-state.ts';
import { ignore, type InstanceStep, type Moment, setTimer, stay } from './instance-step.ts';
import { killHung, loseProcess, loseTurn } from './lose-process.ts';
import { acceptWork, becomeReady, cancelEvent, discard, finishTurn } from './run-turns.ts';
import {
  failStart,
  forgive,
  keep,
  reportStart,
  seekProcess,
  standDamaged,
  startError,
  takeSlot,
} from './start-process.ts';
import type { SupervisionPolicy } from './supervision-policy.ts';

/** `now` is on the clock that only grows. */
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
    case 'damaged':
      return standDamaged(state, input.error);
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
    return ignore(state, `${input.type}: process ${input.process} is not the newest`);
  switch (input.type) {
    case 'ready':
      return becomeReady(state, moment);
    case 'start.failed':
      return failStart(state, input.error, moment);
    case 'turn.done':
      return finishTurn(state, input, moment);
    case 'turn.left':
      return leaveTurn(state);
    case 'turn.lost':
      return loseTurn(state, input.error);
    case 'heartbeat.missed':
      return killHung(state, moment);
    case 'exited':
      return loseProcess(state, input, moment);
  }
}

/** A timer says only that it is time to look: what is not due, or no longer the case, does nothing. */
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
    return { state, actions: verdict.type === 'lookAgain' ? [setTimer('idle', verdict.at)] : [] };
  }
  if (timer === 'grace' && phase.name === 'draining') {
    return now < phase.deadline ? { state, actions: [setTimer('grace', phase.deadline)] } : killLate(state, phase);
  }
  return stay(state);
}
