/** The state of one instance's process, its inputs and its actions. */
import type { AgentEvent } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import { noCrashes, type RestartHistory } from './backoff.ts';
import type { ProcessCondition } from './process-slots.ts';

/** An accepted event whose turn is not finished. */
export interface QueuedEvent {
  /** The number of the event in the inbox. */
  readonly seq: number;
  readonly event: AgentEvent;
  /** The number of processes that died during its turn. */
  readonly crashes: number;
  /** The reason of a cancel. Its turn still has to run, but starts cancelled. */
  readonly cancelled?: string;
  /** The store ended its last turn: that does not count as a crash of the event. */
  readonly isExcused?: true;
}

/** The plan after the process has ended: `serve` more work, or `stop` for good. */
export type Afterwards = 'serve' | 'stop';

/** Times are on the monotonic clock. */
export type Phase =
  /** No process, no work. */
  | { readonly name: 'absent' }
  /** Work, but no start before `until`. */
  | { readonly name: 'backoff'; readonly until: number }
  /** The last start failed with an error that a retry alone does not change: waits for `work` or `forgive`. */
  | { readonly name: 'doesNotStart' }
  /** Work, and a slot was requested. */
  | { readonly name: 'inLine' }
  | { readonly name: 'starting'; readonly deadline: number }
  | { readonly name: 'ready'; readonly readySince: number; readonly idleSince: number }
  /** The turn of the first queued event runs. */
  | { readonly name: 'busy'; readonly readySince: number }
  /** Asked to end; it may finish its turn until `deadline`. */
  | (Leaving & { readonly name: 'draining'; readonly deadline: number })
  /** Killed, but not gone yet. */
  | (Leaving & { readonly name: 'killed'; readonly why: 'hung' | 'late' | 'startFailed' | 'store' })
  | { readonly name: 'stopped' };

interface Leaving {
  /** Absent when it never was ready. */
  readonly readySince?: number;
  /** True when the turn of the first queued event runs. */
  readonly hasTurn: boolean;
  readonly afterwards: Afterwards;
}

export interface InstanceState {
  readonly phase: Phase;
  /** In the order of acceptance. Bounded by the inbox, which rejects further events before they come here. */
  readonly queue: readonly QueuedEvent[];
  readonly restarts: RestartHistory;
  /** Failed starts since the last successful one. */
  readonly startFailures: number;
  /** The error of the last failed start, or of a turn that the store ended; until a start succeeds, or a `forgive`. */
  readonly startError?: FrameError;
  /** The number of processes so far, which is the number of the newest. */
  readonly spawned: number;
  /** True for an instance that has a process even without work. */
  readonly isKept?: true;
}

export const newInstance: InstanceState = {
  phase: { name: 'absent' },
  queue: [],
  restarts: noCrashes,
  startFailures: 0,
  spawned: 0,
};

/** `process` is the number from its `process.spawn`: inputs of an earlier process are ignored. */
export type InstanceInput =
  /**
   * An event was accepted. `crashes` and `cancelled` come from the journal after a restart of the orchestrator: its
   * crashes so far, and the reason of a cancel.
   */
  | {
      readonly type: 'work';
      readonly seq: number;
      readonly event: AgentEvent;
      readonly crashes?: number;
      readonly cancelled?: string;
    }
  /** From now on it has a process, even without work. */
  | { readonly type: 'keep' }
  /** The caller of that event gave up. */
  | { readonly type: 'cancel'; readonly eventId: string; readonly reason: string }
  /** `planSlots` chose this instance. */
  | { readonly type: 'slot.granted' }
  /** `planSlots` wants its slot. Only an idle process ends. */
  | { readonly type: 'hibernate' }
  /** `planSlots` wants the slot of an instance whose turn waits for people. */
  | { readonly type: 'leave' }
  | { readonly type: 'ready'; readonly process: number }
  /**
   * The start failed, or the spawn itself; `exited` follows. It is logged before it is posted. A kept process may also
   * report it after it was ready.
   */
  | { readonly type: 'start.failed'; readonly process: number; readonly error: FrameError }
  /** The running turn gave no result, and its process ends. */
  | { readonly type: 'turn.lost'; readonly process: number; readonly error: FrameError }
  /** The orchestrator itself cannot read the inbox. Changes nothing while there is a process. */
  | { readonly type: 'damaged'; readonly error: FrameError }
  | { readonly type: 'turn.done'; readonly process: number; readonly eventId: string; readonly outcome: TurnOutcome }
  /** The turn waits for people; the process ends without finishing it. */
  | { readonly type: 'turn.left'; readonly process: number }
  | { readonly type: 'heartbeat.missed'; readonly process: number }
  | { readonly type: 'exited'; readonly process: number; readonly code: number | null; readonly signal: string | null }
  /** A person, or a reload, allows another try: crashes are forgotten, and the backoff ends. */
  | { readonly type: 'forgive' }
  /** The conversation and all its events are deleted. Changes nothing while there is a process. */
  | { readonly type: 'discard'; readonly error: FrameError }
  /**
   * `afterwards: 'serve'` replaces the process between turns. A second drain may shorten the grace, never lengthen it.
   */
  /** `cleanUpMs`: the part of the grace for cleaning up, when a turn may take long; the whole rest when absent. */
  | { readonly type: 'drain'; readonly graceMs: number; readonly cleanUpMs?: number; readonly afterwards: Afterwards }
  | { readonly type: 'timer'; readonly timer: InstanceTimer };

export type InstanceTimer = 'backoff' | 'start' | 'idle' | 'grace';

export type InstanceAction =
  /** Join the line for a process. */
  | { readonly type: 'slot.ask' }
  /** The instance has no process and is not in line. */
  | { readonly type: 'slot.release' }
  | { readonly type: 'process.spawn'; readonly process: number }
  | { readonly type: 'process.drain'; readonly process: number; readonly graceMs: number; readonly cleanUpMs?: number }
  /** SIGKILL to its whole group. */
  | { readonly type: 'process.kill'; readonly process: number }
  /** `deadLetter`: fold the event without running it. `isExcused`: its last interruption does not count as a crash. */
  | {
      readonly type: 'turn.send';
      readonly process: number;
      readonly seq: number;
      readonly event: AgentEvent;
      readonly deadLetter: boolean;
      readonly isExcused?: true;
    }
  | { readonly type: 'turn.cancel'; readonly process: number; readonly eventId: string; readonly reason: string }
  /** The event is handled and out of the queue. */
  | { readonly type: 'turn.finished'; readonly event: AgentEvent; readonly outcome: TurnOutcome }
  | { readonly type: 'event.deadLettered'; readonly event: AgentEvent; readonly crashes: number }
  /** Tell all waiting callers of this instance the error now. */
  | { readonly type: 'requests.fail'; readonly error: FrameError }
  | { readonly type: 'timer.set'; readonly timer: InstanceTimer; readonly at: number }
  | { readonly type: 'timer.clear'; readonly timer: InstanceTimer }
  | {
      readonly type: 'report';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: 'process.exited' | 'process.hung' | 'start.failed' | 'instance.stopped' | 'frame.ignored';
      readonly message: string;
    };

/** Returns the condition of its process for `planSlots`; `undefined` when it has no slot. */
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
