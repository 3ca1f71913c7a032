/**
 * The seam between the turn loop and the storage of a conversation: in memory, in files, or in a cluster.
 *
 * Invariants that every store guarantees:
 * 1. `open` returns the records of a turn in the order they were appended, until that turn commits or another turn is
 *    opened.
 * 2. `commit` is atomic and happens once: the last records, base, extension states and result are stored together, or
 *    not at all.
 * 3. `commitStates` changes only extension states, and only between turns.
 * 4. `commit` and `commitStates` resolve once everything so far survives a loss of power.
 * 5. A writer whose epoch or state version is not the newest gets `E_FENCED` and changes nothing.
 */
import type { AgentAddress, AgentEvent, JsonValue, Message, MessageEvent, TurnResult } from '@goondan/types';
import type { EffectKind } from '../../trace/effect-record.ts';
import type { ResumedStep } from '../../trace/resume-point.ts';
import type { RecordedEffect } from '../../usage/count-turn.ts';
import type { TurnUsage } from '../../ports/turn-outcome.ts';

/** The author of a change, for blame and replay. */
export type EventAuthor =
  /** `from` is absent when the sender is no longer known. `again`: the input comes back after a `truncate`. */
  | { readonly kind: 'input'; readonly from?: InputOrigin; readonly again?: true }
  /** `ref`: the model, as `Model/name`. `answeredBy`: the extension whose layer answered instead of the model. */
  | { readonly kind: 'model'; readonly ref?: string; readonly answeredBy?: string }
  /** `changedBy`: the person who changed the arguments of the call. `changedVia`: the door through which they did. */
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly answeredBy?: string;
      readonly changedBy?: string;
      readonly changedVia?: string;
    }
  | { readonly kind: 'extension'; readonly name: string }
  | { readonly kind: 'runtime' };

/** The sender of a turn's input. */
export interface InputOrigin {
  readonly kind: 'agent' | 'connector' | 'cli';
  readonly name: string;
  /** For a sender that is an agent: the instance that sent the input. */
  readonly instanceKey?: string;
}

/** One record of a running turn's log. `turn-log.ts` defines how a log is interpreted. */
export type TurnRecord =
  /**
   * A change to the conversation. `stepId` is present when the change was made inside a step. `took`: the event whose
   * input the change appended, if it is not the turn's own event.
   */
  | {
      readonly type: 'message';
      readonly event: MessageEvent;
      readonly author: EventAuthor;
      readonly stepId?: string;
      readonly took?: TakenInput;
    }
  /** All turn layers have run up to their `next()`. The message events they emitted now count. */
  | {
      readonly type: 'entered';
      readonly metadata: Record<string, JsonValue>;
      readonly extensionState: Record<string, JsonValue>;
      /** A digest of the plan whose turn layers ran. Absent when the plan has none. */
      readonly plan?: string;
    }
  /** An effect is about to happen. */
  | { readonly type: 'intent'; readonly key: string; readonly kind: EffectKind }
  /** The effect is complete. A resumed turn uses this outcome instead of repeating the effect. */
  | RecordedEffect
  /** A step ended. Its events count. If it was `dropped`, only its survivors count. */
  | StepRecord
  /**
   * The turn was resumed after a crash. Message events since the last `entered` or `step` record do not count, except
   * the input.
   */
  /** `isExcused`: true if the turn's event did not cause the interruption. */
  | { readonly type: 'resumed'; readonly isExcused?: true };

export interface StepRecord extends ResumedStep {
  readonly type: 'step';
  /**
   * The events of a dropped step that stay: their positions among the turn's events, counted from the last event before
   * this record, which is 1. Absent when none stays.
   */
  readonly survivors?: readonly number[];
  readonly metadata: Record<string, JsonValue>;
  readonly extensionState: Record<string, JsonValue>;
}

/** An input for a running turn, which the turn has taken at the boundary between two steps. Its commit ends the event. */
export interface TakenInput extends TurnInput {
  /** The index of the step after the boundary. */
  readonly beforeStep: number;
}

/** Records that were not appended. `at`: the index of the first of them in the turn's log. */
export interface UnwrittenRecords {
  readonly at: number;
  readonly records: readonly TurnRecord[];
}

/** The change that a turn makes to the base. */
export type BaseDelta =
  | { readonly type: 'append'; readonly messages: readonly Message[] }
  | { readonly type: 'rewrite'; readonly messages: readonly Message[] };

export interface OpenTurn {
  /**
   * The writer's number, which every write of this turn passes to the store. A write with an older epoch is rejected.
   */
  readonly epoch: number;
  /** The number of commits so far. A caller that has the base of this version in memory does not need to load it. */
  readonly version: number;
  readonly stateVersion: number;
  loadBase(): Promise<readonly Message[]>;
  /** The records of this turn if it was interrupted; otherwise empty. */
  readonly log: readonly TurnRecord[];
  /** The name of the last other node that ran this turn; absent if only this node did. */
  readonly movedFrom?: string;
  /** Extension states by extension name, after the last commit. */
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** The result, if this turn is already committed. For an event that another turn has taken, it is that turn's result. */
  readonly finished?: TurnResult;
  /** The tokens and the completed steps of a finished turn, if the store keeps them. */
  readonly finishedUsage?: FinishedUsage;
  /** The ids of the events that the committed turn has taken, as far as they are kept. Present with `finished`. */
  readonly finishedAlso?: readonly string[];
  /** Returns true if a committed turn has handled the event, as far as it is known. Such an event must not be taken. */
  isHandled(input: TurnInput): boolean;
}

export interface FinishedUsage extends TurnUsage {
  readonly stepCount: number;
}

export interface ConversationSnapshot {
  readonly version: number;
  /** Increases with every commit, including commits of states alone. */
  readonly stateVersion: number;
  readonly messages: readonly Message[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
}

/** The event of a turn, with its number in the inbox of the instance. */
export interface TurnInput {
  readonly seq: number;
  readonly event: AgentEvent;
}

export interface ConversationStore {
  /**
   * Opens a turn. `input`: the event, if it came through the inbox; the commit of the turn then ends it.
   *
   * **Errors** — `E_TURN_FORGOTTEN` when an event with this number or a higher one is handled, and the result of the turn
   * is no longer kept; `E_STORE_ORDER` when another event's turn was interrupted and has to be resumed first.
   */
  open(instance: AgentAddress, turnId: string, input?: TurnInput): Promise<OpenTurn>;
  /**
   * Appends records. When the promise resolves, they survive the end of the process. They also survive a loss of power if
   * something outside may depend on them: an intent without its outcome, the answer of a person, and all records before
   * these. The other records survive a loss of power from the next such record or commit on; after it, a resumed turn
   * makes them again. `at`: the index of the first of these records in the turn's log.
   */
  append(instance: AgentAddress, epoch: number, at: number, records: readonly TurnRecord[]): Promise<void>;
  /**
   * Commits the turn. `rest`: the last records of the turn, which are stored together with the commit. The tokens of the
   * turn are counted from its records (`usage/count-turn.ts`), and stored with the commit, too.
   */
  commit(
    instance: AgentAddress,
    epoch: number,
    turnId: string,
    delta: BaseDelta,
    extensionState: Readonly<Record<string, JsonValue>>,
    result: TurnResult,
    rest?: UnwrittenRecords,
  ): Promise<void>;
  /**
   * Replaces the extension states between turns. Resolves with the new state version once the states are durable.
   * `stateVersion`: the version that the new states are based on.
   *
   * **Errors** — `E_FENCED` when another commit came after `stateVersion`, `E_STORE_ORDER` while a turn is open; errors
   * of the disk.
   */
  commitStates(
    instance: AgentAddress,
    stateVersion: number,
    extensionState: Readonly<Record<string, JsonValue>>,
  ): Promise<number>;
  /** Returns the committed conversation. */
  read(instance: AgentAddress): Promise<ConversationSnapshot>;
}
