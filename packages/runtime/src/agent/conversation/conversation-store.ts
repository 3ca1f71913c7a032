/**
 * The seam between the turn loop and wherever a conversation lives: memory, files, a cluster.
 *
 * Invariants every store keeps:
 * 1. Records of a turn come back from `open` in the order they were appended, until it commits or another is opened.
 * 2. `commit` happens once and as a whole: base, extension state and result together, or nothing.
 * 3. `commitStates` changes extension state alone, and only between turns.
 * 4. A writer whose epoch or state version is no longer the newest gets `E_FENCED` and changes nothing.
 */
import type { AgentAddress, JsonValue, Message, MessageEvent, TurnResult } from '@goondan/types';
import type { EffectKind } from '../../trace/effect-record.ts';
import type { ResumedStep } from '../../trace/resume-point.ts';

/** Who made a change, for blame and replay. */
export type EventAuthor =
  /** `from` is absent where nobody knows any more. */
  | { readonly kind: 'input'; readonly from?: InputOrigin }
  /** `ref`: which one, `Model/name`. `answeredBy`: the extension whose layer answered, so that nobody else was asked. */
  | { readonly kind: 'model'; readonly ref?: string; readonly answeredBy?: string }
  | { readonly kind: 'tool'; readonly name: string; readonly answeredBy?: string }
  | { readonly kind: 'extension'; readonly name: string }
  | { readonly kind: 'runtime' };

/** Who sent the input of a turn. */
export interface InputOrigin {
  readonly kind: 'agent' | 'connector' | 'cli';
  readonly name: string;
  /** Of the agent that asked: which of its conversations. */
  readonly instanceKey?: string;
}

/** How an effect ended; an error only where the error is the outcome (a request that timed out). */
export type EffectOutcome =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** One line of a running turn's log. `turn-log.ts` says what a log means. */
export type TurnRecord =
  /** A change to the conversation. `stepId` when it was made inside a step. */
  | { readonly type: 'message'; readonly event: MessageEvent; readonly author: EventAuthor; readonly stepId?: string }
  /** The parts of all turn layers before `next()` are done: what they emitted counts. */
  | {
      readonly type: 'entered';
      readonly metadata: Record<string, JsonValue>;
      readonly extensionState: Record<string, JsonValue>;
    }
  /** An effect is about to happen. */
  | { readonly type: 'intent'; readonly key: string; readonly kind: EffectKind }
  /** It happened; a resumed turn gets this instead of doing it again. */
  | { readonly type: 'effect'; readonly key: string; readonly kind: EffectKind; readonly outcome: EffectOutcome }
  /** A step ended: its events count, or (`dropped`) none of them do. */
  | StepRecord
  /** The turn goes on after a crash: events since the last `entered` or `step` record do not count, but the input does. */
  /** `isExcused`: what interrupted it was not its event's fault. */
  | { readonly type: 'resumed'; readonly isExcused?: true };

export interface StepRecord extends ResumedStep {
  readonly type: 'step';
  readonly metadata: Record<string, JsonValue>;
  readonly extensionState: Record<string, JsonValue>;
}

/** What a turn changes in the base. */
export type BaseDelta =
  | { readonly type: 'append'; readonly messages: readonly Message[] }
  | { readonly type: 'rewrite'; readonly messages: readonly Message[] };

export interface OpenTurn {
  /** The fence: every write of this turn carries it. */
  readonly epoch: number;
  /** Counts commits. A caller that still has the base of this version need not load it. */
  readonly version: number;
  readonly stateVersion: number;
  loadBase(): Promise<readonly Message[]>;
  /** The records of this very turn, if it was interrupted; else empty. */
  readonly log: readonly TurnRecord[];
  /** By extension name, as of the last commit. */
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** This turn is committed already: this is its result. */
  readonly finished?: TurnResult;
}

export interface ConversationSnapshot {
  readonly version: number;
  /** Grows with every commit, those of states alone too. */
  readonly stateVersion: number;
  readonly messages: readonly Message[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
}

export interface ConversationStore {
  open(instance: AgentAddress, turnId: string): Promise<OpenTurn>;
  /** Durable when it resolves. `at` is the index of the first of these records in the turn's log. */
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
   * Replaces the extension states between turns; durable when it resolves, with the new state version. `stateVersion`: the
   * commit that they follow.
   *
   * **Errors** — `E_FENCED` when there was another commit since, `E_STORE_ORDER` while a turn is open; those of the disk.
   */
  commitStates(
    instance: AgentAddress,
    stateVersion: number,
    extensionState: Readonly<Record<string, JsonValue>>,
  ): Promise<number>;
  /** What is committed. */
  read(instance: AgentAddress): Promise<ConversationSnapshot>;
}
