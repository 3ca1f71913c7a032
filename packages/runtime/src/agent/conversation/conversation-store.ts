/**
 * The seam between the turn loop and the storage of a conversation: memory, files, a cluster.
 *
 * Invariants every store keeps:
 * 1. `open` returns the records of a turn in the order they were appended, until that turn commits or another turn is
 *    opened.
 * 2. `commit` happens once and as a whole: base, extension state and result together, or nothing.
 * 3. `commitStates` changes extension state alone, and only between turns.
 * 4. A writer whose epoch or state version is no longer the newest gets `E_FENCED` and changes nothing.
 */
import type { AgentAddress, JsonValue, Message, MessageEvent, TurnResult } from '@goondan/types';
import type { EffectKind } from '../../trace/effect-record.ts';
import type { EffectOutcome, ResumedStep } from '../../trace/resume-point.ts';

/** The author of a change, for blame and replay. */
export type EventAuthor =
  /** `from` is absent when the sender is not known any more. */
  | { readonly kind: 'input'; readonly from?: InputOrigin }
  /**
   * `ref`: the model, as `Model/name`. `answeredBy`: the extension whose layer answered, so that the model was not
   * called.
   */
  | { readonly kind: 'model'; readonly ref?: string; readonly answeredBy?: string }
  | { readonly kind: 'tool'; readonly name: string; readonly answeredBy?: string }
  | { readonly kind: 'extension'; readonly name: string }
  | { readonly kind: 'runtime' };

/** The sender of a turn's input. */
export interface InputOrigin {
  readonly kind: 'agent' | 'connector' | 'cli';
  readonly name: string;
  /** For an agent: the instance that asked. */
  readonly instanceKey?: string;
}

/** One line of a running turn's log. `turn-log.ts` defines the meaning of a log. */
export type TurnRecord =
  /** A change to the conversation. `stepId` is present when it was made inside a step. */
  | { readonly type: 'message'; readonly event: MessageEvent; readonly author: EventAuthor; readonly stepId?: string }
  /** All turn layers have run up to their `next()`: the message events they emitted count. */
  | {
      readonly type: 'entered';
      readonly metadata: Record<string, JsonValue>;
      readonly extensionState: Record<string, JsonValue>;
    }
  /** An effect is about to happen. */
  | { readonly type: 'intent'; readonly key: string; readonly kind: EffectKind }
  /** The effect happened; a resumed turn uses this outcome instead of repeating the effect. */
  | { readonly type: 'effect'; readonly key: string; readonly kind: EffectKind; readonly outcome: EffectOutcome }
  /** A step ended: its events count, or (`dropped`) none of them do. */
  | StepRecord
  /**
   * The turn continues after a crash: message events since the last `entered` or `step` record do not count, except the
   * input.
   */
  /** `isExcused`: the interruption was not caused by the turn's event. */
  | { readonly type: 'resumed'; readonly isExcused?: true };

export interface StepRecord extends ResumedStep {
  readonly type: 'step';
  readonly metadata: Record<string, JsonValue>;
  readonly extensionState: Record<string, JsonValue>;
}

/** The change that a turn makes to the base. */
export type BaseDelta =
  | { readonly type: 'append'; readonly messages: readonly Message[] }
  | { readonly type: 'rewrite'; readonly messages: readonly Message[] };

export interface OpenTurn {
  /** The fence: every write of this turn carries this epoch. */
  readonly epoch: number;
  /** The number of commits. A caller that still has the base of this version does not need to load it. */
  readonly version: number;
  readonly stateVersion: number;
  loadBase(): Promise<readonly Message[]>;
  /** Records of this turn, if it was interrupted; else empty. */
  readonly log: readonly TurnRecord[];
  /** By extension name, as of the last commit. */
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** The result, when this turn is already committed. */
  readonly finished?: TurnResult;
}

export interface ConversationSnapshot {
  readonly version: number;
  /** Grows with every commit, also with a commit of states alone. */
  readonly stateVersion: number;
  readonly messages: readonly Message[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
}

export interface ConversationStore {
  open(instance: AgentAddress, turnId: string): Promise<OpenTurn>;
  /** Appends records, durable when it resolves. `at` is the index of the first of these records in the turn's log. */
  append(instance: AgentAddress, epoch: number, at: number, records: readonly TurnRecord[]): Promise<void>;
  commit(
    instance: AgentAddress,
    epoch: number,
    turnId: string,
    delta: BaseDelta,
    extensionState: Readonly<Record<string, JsonValue>>,
    result: TurnResult,
  ): Promise<void>;
  /**
   * Replaces the extension states between turns. Resolves with the new state version once they are durable.
   * `stateVersion` is the version that the new states were made from.
   *
   * **Errors** — `E_FENCED` when there was another commit since, `E_STORE_ORDER` while a turn is open; errors of the
   * disk.
   */
  commitStates(
    instance: AgentAddress,
    stateVersion: number,
    extensionState: Readonly<Record<string, JsonValue>>,
  ): Promise<number>;
  /** Returns the committed conversation. */
  read(instance: AgentAddress): Promise<ConversationSnapshot>;
}
