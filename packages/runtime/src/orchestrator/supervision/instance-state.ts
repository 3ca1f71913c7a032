/** The state of one instance's process, its inputs and its actions. */
import type { AgentEvent } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { ChildExit } from '../../ipc/spawn.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import { noCrashes, type RestartHistory } from './backoff.ts';
import type { ProcessCondition } from './process-slots.ts';

/** An accepted event whose turn is not finished. */
export interface QueuedEvent {
  /** The number of the event in the inbox. */
  readonly seq: number;
  readonly event: AgentEvent;
  /** The number of processes that died during the event's turn. */
  readonly crashes: number;
  /** The reason of a cancel. The turn still has to run, but starts cancelled. */
  readonly cancelled?: string;
  /** True if the store, a shared process or the loss of a node ended the event's last turn: that is not a crash of it. */
  readonly isExcused?: true;
  /** The code in which the last process was blocked, in words, if it was. */
  readonly blocked?: string;
  /** True if the event is given up before its last crash allowed (invariant 19 of the machine). */
  readonly isGivenUp?: true;
  /** The number of nodes that ended during the event's turn, if these were too many. */
  readonly takeOvers?: number;
}

/** The next step after the process has exited: `serve` continues with further work, `stop` starts no other process. */
export type Afterwards = 'serve' | 'stop';

/** The phases of an instance. Times are on the monotonic clock. */
export type Phase =
  /** The instance has no process and no work. */
  | { readonly name: 'absent' }
  /** The instance has work, but must not start before `until`. */
  | { readonly name: 'backoff'; readonly until: number }
  /**
   * The last start failed with an error that a retry alone does not change. The instance waits for `work` or `forgive`.
   */
  | { readonly name: 'doesNotStart' }
  /** The instance has work and has requested a slot. */
  | { readonly name: 'inLine' }
  | { readonly name: 'starting'; readonly deadline: number }
  | { readonly name: 'ready'; readonly readySince: number; readonly idleSince: number }
  /** The turn of the first queued event is running. */
  | { readonly name: 'busy'; readonly readySince: number }
  /** The process was asked to end; it may finish its turn until `deadline`. */
  | (Leaving & { readonly name: 'draining'; readonly deadline: number })
  /** The process was killed, but has not exited yet. */
  | (Leaving & { readonly name: 'killed'; readonly why: 'hung' | 'late' | 'startFailed' | 'store' })
  | { readonly name: 'stopped' };

interface Leaving {
  /** The time at which the process became ready. Absent when the process was never ready. */
  readonly readySince?: number;
  /** True when the turn of the first queued event is running. */
  readonly hasTurn: boolean;
  readonly afterwards: Afterwards;
}

export interface InstanceState {
  readonly phase: Phase;
  /**
   * Events in the order of acceptance. Their number is bounded by the inbox, which rejects further events before they
   * get here.
   */
  readonly queue: readonly QueuedEvent[];
  readonly restarts: RestartHistory;
  /** The number of failed starts since the last successful one. */
  readonly startFailures: number;
  /**
   * The error of the last failed start, or of a turn that the store ended. A successful start or `forgive` clears it.
   */
  readonly startError?: FrameError;
  /** The number of processes started so far, which is also the number of the newest process. */
  readonly spawned: number;
  /** True if the process takes its next event while a turn runs. */
  readonly takesAhead?: true;
  /**
   * The id of the second queued event, if the process already has it: it was handed ahead. The process begins it only
   * after the commit of the running turn.
   */
  readonly ahead?: string;
  /**
   * True if a shared process ended during the start or the turn of this instance. Until the turn is committed, the
   * instance gets processes of its own.
   */
  readonly isAlone?: true;
  /** True for an instance that has a process even without work. */
  readonly isKept?: true;
  /** The code that last blocked a process, in words, and when. The end of a process that is not a crash clears it. */
  readonly lastBlocked?: { readonly code: string; readonly at: number };
}

export const newInstance: InstanceState = {
  phase: { name: 'absent' },
  queue: [],
  restarts: noCrashes,
  startFailures: 0,
  spawned: 0,
};

/**
 * The inputs of the state machine. `process` is the number from the action `process.spawn`. Inputs of an earlier
 * process are ignored.
 */
export type InstanceInput =
  /**
   * An event was accepted. After a restart of the orchestrator, `crashes` and `cancelled` come from the journal: the
   * number of crashes so far, and the reason of a cancel.
   */
  | {
      readonly type: 'work';
      readonly seq: number;
      readonly event: AgentEvent;
      readonly crashes?: number;
      /** The number of nodes that ended during the event's turn. */
      readonly takeOvers?: number;
      readonly cancelled?: string;
      /** True if the event's turn may have been interrupted by the loss of its node. */
      readonly isExcused?: true;
    }
  /** From now on the instance has a process even without work. */
  | { readonly type: 'keep' }
  /** The caller of this event gave up. */
  | { readonly type: 'cancel'; readonly eventId: string; readonly reason: string }
  /** `planSlots` chose this instance. */
  | { readonly type: 'slot.granted' }
  /** `planSlots` wants the slot of this instance. Its process ends only if it is idle. */
  | { readonly type: 'hibernate' }
  /** `planSlots` wants the slot of an instance whose turn waits for people. */
  | { readonly type: 'leave' }
  /** `takesAhead`: true for a process that runs turns. */
  | { readonly type: 'ready'; readonly process: number; readonly takesAhead?: true }
  /**
   * The start failed, or the process could not be spawned; `exited` follows. The failure is already logged. A kept
   * process may also report a failure after it was ready.
   */
  | { readonly type: 'start.failed'; readonly process: number; readonly error: FrameError }
  /** The running turn has no result, and its process ends. */
  | { readonly type: 'turn.lost'; readonly process: number; readonly error: FrameError }
  /** The orchestrator itself cannot read the inbox. Has no effect while the instance has a process. */
  | { readonly type: 'damaged'; readonly error: FrameError }
  /** `begins`: the id of the event that was handed ahead, if the process begins its turn now. */
  | {
      readonly type: 'turn.done';
      readonly process: number;
      readonly eventId: string;
      readonly outcome: TurnOutcome;
      /** The ids of the events that the turn has taken. */
      readonly took?: readonly string[];
      readonly begins?: string;
    }
  /** Takes the event back that the process was handed ahead. */
  | { readonly type: 'takeBack' }
  /** The process does not begin this event, unless it has said before that it did. */
  | { readonly type: 'turn.returned'; readonly process: number; readonly eventId: string }
  /** The turn waits for people; the process ends without finishing the turn. */
  | { readonly type: 'turn.left'; readonly process: number }
  /**
   * `pid` is only for the log; the machine knows its processes by their number. `blocked`: the code in which the process
   * is blocked, in words; in a shared process it may be that of another conversation.
   */
  | { readonly type: 'heartbeat.missed'; readonly process: number; readonly pid?: number; readonly blocked?: string }
  | {
      readonly type: 'exited';
      readonly process: number;
      readonly pid?: number;
      readonly code: number | null;
      readonly signal: string | null;
      /** As in `ChildExit` (invariant 15 of the machine). */
      readonly sharing?: ChildExit['sharing'];
      /** As in `ChildExit` (invariant 19 of the machine). */
      readonly blocked?: string;
    }
  /** A person, or a reload, allows another attempt: the crash count is reset, and the backoff ends. */
  | { readonly type: 'forgive' }
  /**
   * The instance belongs to another node, or to none. Its process is killed, and its events are forgotten: they are in
   * the store.
   */
  | { readonly type: 'moved' }
  /** The conversation and all its events were deleted. Has no effect while the instance has a process. */
  | { readonly type: 'discard'; readonly error: FrameError }
  /**
   * With `afterwards: 'serve'`, the process is replaced between turns. A second drain may shorten the grace, but never
   * lengthens it.
   */
  /**
   * `cleanUpMs` is the time that cleaning up may take after the turn. When absent, cleaning up may take the whole
   * remaining grace.
   */
  | { readonly type: 'drain'; readonly graceMs: number; readonly cleanUpMs?: number; readonly afterwards: Afterwards }
  | { readonly type: 'timer'; readonly timer: InstanceTimer };

export type InstanceTimer = 'backoff' | 'start' | 'idle' | 'grace';

export type InstanceAction =
  /** Request a slot for a process. */
  | { readonly type: 'slot.ask' }
  /** The instance has no process and is not waiting for one. */
  | { readonly type: 'slot.release' }
  | { readonly type: 'process.spawn'; readonly process: number }
  | {
      readonly type: 'process.drain';
      readonly process: number;
      readonly graceMs: number;
      readonly cleanUpMs?: number;
      /** True if the process may wait for people, even if that takes days. */
      readonly isUnhurried?: true;
    }
  /** Send SIGKILL to the whole process group. */
  | { readonly type: 'process.kill'; readonly process: number }
  /**
   * `deadLetter`: add the event's input to the conversation without running it. `blocked`: the code that blocked the
   * last process of the event. `takeOvers`: the number of nodes that it ended, if that made it a dead letter.
   * `isExcused`: the last interruption does not count as a crash.
   */
  | {
      readonly type: 'turn.send';
      readonly process: number;
      readonly seq: number;
      readonly event: AgentEvent;
      readonly deadLetter: boolean;
      readonly blocked?: string;
      readonly takeOvers?: number;
      readonly isExcused?: true;
    }
  /** Give the process the next event, to be begun after the commit of the running turn. */
  | { readonly type: 'turn.ahead'; readonly process: number; readonly seq: number; readonly event: AgentEvent }
  /** Take the event back that the process was handed ahead. */
  | { readonly type: 'turn.back'; readonly process: number; readonly eventId: string }
  /** Give the process an event that the running turn may take. */
  | { readonly type: 'turn.steer'; readonly process: number; readonly seq: number; readonly event: AgentEvent }
  /** The process has begun the turn of the event that it was handed ahead. */
  | { readonly type: 'turn.started'; readonly event: AgentEvent }
  | { readonly type: 'turn.cancel'; readonly process: number; readonly eventId: string; readonly reason: string }
  /**
   * The event was handled and removed from the queue. `isTaken`: the turn of another event has taken it. `traceId`: the trace
   * of that turn.
   */
  | {
      readonly type: 'turn.finished';
      readonly event: AgentEvent;
      readonly outcome: TurnOutcome;
      readonly isTaken?: true;
      readonly traceId?: string;
    }
  /** `ended`: what the turn of the event has ended so often. */
  | {
      readonly type: 'event.deadLettered';
      readonly event: AgentEvent;
      readonly ended: 'process' | 'node';
      readonly crashes: number;
      readonly blocked?: string;
    }
  /** Fail all waiting requests to this instance with this error now. */
  | { readonly type: 'requests.fail'; readonly error: FrameError }
  | { readonly type: 'timer.set'; readonly timer: InstanceTimer; readonly at: number }
  | { readonly type: 'timer.clear'; readonly timer: InstanceTimer }
  | {
      readonly type: 'report';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: 'process.exited' | 'process.hung' | 'start.failed' | 'instance.stopped' | 'frame.ignored';
      readonly message: string;
    };

/** Returns the condition of the instance's process for `planSlots`; `undefined` when the instance has no slot. */
export function conditionOf(
  { phase }: InstanceState,
  hasOpenRequest: boolean,
  isHeld = false,
): ProcessCondition | undefined {
  switch (phase.name) {
    case 'absent':
    case 'backoff':
    case 'doesNotStart':
    case 'inLine':
    case 'stopped':
      return undefined;
    case 'starting':
      return 'starting';
    case 'ready':
      return 'idle';
    case 'busy':
      if (isHeld) return 'held';
      return hasOpenRequest ? 'waiting' : 'working';
    case 'draining':
      return phase.hasTurn && hasOpenRequest ? 'waiting' : 'stopping';
    case 'killed':
      return 'stopping';
  }
}
