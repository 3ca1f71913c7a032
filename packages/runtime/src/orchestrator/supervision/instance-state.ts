/** What the orchestrator knows about one instance's process, what can happen to it, and what is to be done. */
import type { AgentEvent, TurnResult } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { noCrashes, type RestartHistory } from './backoff.ts';
import type { ProcessCondition } from './process-slots.ts';

/** An accepted event whose turn is not finished. */
export interface QueuedEvent {
  /** Its place in the inbox. */
  readonly seq: number;
  readonly event: AgentEvent;
  /** Processes that died in the middle of its turn. */
  readonly crashes: number;
  /** Why nobody wants it any more. Its turn is still due, but starts cancelled. */
  readonly cancelled?: string;
  /** The store ended its last turn: the next one does not count that against it. */
  readonly isExcused?: true;
}

/** After the process that goes now: `serve` what is there and what comes, or `stop` for good. */
export type Afterwards = 'serve' | 'stop';

/** Times are on the clock that only grows. */
export type Phase =
  /** No process, no work. */
  | { readonly name: 'absent' }
  /** Work, but no start before `until`. */
  | { readonly name: 'backoff'; readonly until: number }
  /** Its last start failed with an error that another try alone does not change: it waits for `work` or `forgive`. */
  | { readonly name: 'doesNotStart' }
  /** Work, and a slot was asked for. */
  | { readonly name: 'inLine' }
  | { readonly name: 'starting'; readonly deadline: number }
  | { readonly name: 'ready'; readonly readySince: number; readonly idleSince: number }
  /** The turn of the first queued event runs. */
  | { readonly name: 'busy'; readonly readySince: number }
  /** Asked to go; it may finish its turn until `deadline`. */
  | (Leaving & { readonly name: 'draining'; readonly deadline: number })
  /** Killed, but not gone yet. */
  | (Leaving & { readonly name: 'killed'; readonly why: 'hung' | 'late' | 'startFailed' | 'store' })
  | { readonly name: 'stopped' };

interface Leaving {
  /** Absent when it never was ready. */
  readonly readySince?: number;
  /** The turn of the first queued event runs. */
  readonly hasTurn: boolean;
  readonly afterwards: Afterwards;
}

export interface InstanceState {
  readonly phase: Phase;
  /** In the order of acceptance. Bounded by the inbox, which refuses what is too much before it comes here. */
  readonly queue: readonly QueuedEvent[];
  readonly restarts: RestartHistory;
  /** Failed starts since the last good one. */
  readonly startFailures: number;
  /** Why the last start failed, or why the store ended the last turn; until a start is good, or somebody forgives it. */
  readonly startError?: FrameError;
  /** Processes so far; the number of the newest. */
  readonly spawned: number;
  /** It has a process whether there is work or not. */
  readonly isKept?: true;
}

export const newInstance: InstanceState = {
  phase: { name: 'absent' },
  queue: [],
  restarts: noCrashes,
  startFailures: 0,
  spawned: 0,
};

/** `process` is the number its `process.spawn` gave it: what an earlier one says is not heard. */
export type InstanceInput =
  /**
   * An event was accepted. `crashes`: as the journal knows them, when the orchestrator itself was restarted; `cancelled`:
   * the same, for why nobody wants it any more.
   */
  | {
      readonly type: 'work';
      readonly seq: number;
      readonly event: AgentEvent;
      readonly crashes?: number;
      readonly cancelled?: string;
    }
  /** From now on it has a process, whether there is work or not. */
  | { readonly type: 'keep' }
  /** Whoever waited for that event gave up. */
  | { readonly type: 'cancel'; readonly eventId: string; readonly reason: string }
  /** `planSlots` chose it. */
  | { readonly type: 'slot.granted' }
  /** `planSlots` wants its slot. Only an idle process follows. */
  | { readonly type: 'hibernate' }
  /** The same, of one whose turn waits for people. */
  | { readonly type: 'leave' }
  | { readonly type: 'ready'; readonly process: number }
  /**
   * Also when the spawn itself failed; then followed by `exited`. It was logged before it is posted. A process that is
   * kept may report it after it was ready, too.
   */
  | { readonly type: 'start.failed'; readonly process: number; readonly error: FrameError }
  /** The running turn gave no result, and its process ends. */
  | { readonly type: 'turn.lost'; readonly process: number; readonly error: FrameError }
  /** The orchestrator itself cannot read its inbox. Only one without a process follows. */
  | { readonly type: 'damaged'; readonly error: FrameError }
  | { readonly type: 'turn.done'; readonly process: number; readonly eventId: string; readonly result: TurnResult }
  /** The turn waits for people; the process goes without having finished it. */
  | { readonly type: 'turn.left'; readonly process: number }
  | { readonly type: 'heartbeat.missed'; readonly process: number }
  | { readonly type: 'exited'; readonly process: number; readonly code: number | null; readonly signal: string | null }
  /** A person says that it is worth another try: what crashed is forgotten, and a wait for the next start is over. */
  | { readonly type: 'forgive' }
  /** Its conversation is gone, and every event with it. Only one without a process follows. */
  | { readonly type: 'discard'; readonly error: FrameError }
  /** `afterwards: 'serve'` replaces the process between turns. A second one may shorten the grace, never lengthen it. */
  /** `cleanUpMs`: how much of it is for cleaning up, when a turn may take long; all that is left when absent. */
  | { readonly type: 'drain'; readonly graceMs: number; readonly cleanUpMs?: number; readonly afterwards: Afterwards }
  | { readonly type: 'timer'; readonly timer: InstanceTimer };

export type InstanceTimer = 'backoff' | 'start' | 'idle' | 'grace';

export type InstanceAction =
  /** Join the line for a process. */
  | { readonly type: 'slot.ask' }
  /** It has no process and is not in line. */
  | { readonly type: 'slot.release' }
  | { readonly type: 'process.spawn'; readonly process: number }
  | { readonly type: 'process.drain'; readonly process: number; readonly graceMs: number; readonly cleanUpMs?: number }
  /** SIGKILL to its whole group. */
  | { readonly type: 'process.kill'; readonly process: number }
  /** `deadLetter`: fold it without running it. `isExcused`: what interrupted it last was not its fault. */
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
  | { readonly type: 'turn.finished'; readonly event: AgentEvent; readonly result: TurnResult }
  | { readonly type: 'event.deadLettered'; readonly event: AgentEvent; readonly crashes: number }
  /** Whoever waits for an answer of this instance is told this, now. */
  | { readonly type: 'requests.fail'; readonly error: FrameError }
  | { readonly type: 'timer.set'; readonly timer: InstanceTimer; readonly at: number }
  | { readonly type: 'timer.clear'; readonly timer: InstanceTimer }
  | {
      readonly type: 'report';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: 'process.exited' | 'process.hung' | 'start.failed' | 'instance.stopped' | 'frame.ignored';
      readonly message: string;
    };

/** What its process means to `planSlots`; `undefined` when it holds no slot. */
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
