/**
 * The types of a running turn and of a running step. All chains, steps and calls of a turn share its ids, its log and
 * its limits. `open-turn.ts` creates a turn, `run-step.ts` a step.
 */
import {
  type AgentEvent,
  GoondanError,
  type JsonObject,
  type JsonValue,
  type ModelFinishReason,
  type RuntimeView,
  type TokenUsage,
  type ToolCallResult,
  type Turn,
} from '@goondan/types';
import { addCalled, sumUsage } from '../../ports/token-usage.ts';
import type { TurnUsage } from '../../ports/turn-outcome.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';
import type { ChainSpan, TurnObserver } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { Conversation, Survivor } from '../conversation/conversation.ts';
import type { TurnInput } from '../conversation/conversation-store.ts';
import type { TurnLog, TurnLogWriter } from '../conversation/turn-log.ts';
import type { Demand } from '../output/demand.ts';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';
import type { Bounds } from '../with-deadline.ts';
import type { AgentParts } from './agent-parts.ts';
import type { DeltaGate, StepIdentity } from './delta-gate.ts';
import type { Effects } from './effects.ts';
import type { TurnClock } from './turn-clock.ts';
import type { TurnReplay } from './turn-replay.ts';
import type { WaitingInputs } from './waiting-inputs.ts';

export interface RunningTurn {
  readonly agent: AgentParts;
  readonly event: AgentEvent;
  readonly turnId: string;
  readonly spanIds: SpanIds;
  /** The turn as step layers see it. */
  readonly shown: Turn;
  /** The records of an earlier, interrupted run of this turn. */
  readonly before: TurnLog;
  readonly resumed: boolean;
  /** The digest of the plan whose turn layers run; undefined when the plan is not JSON. Its steps may have other plans. */
  readonly plan: string | undefined;
  readonly observer: TurnObserver | undefined;
  /** Present in a replay, where nothing may reach the outside. */
  readonly replay: TurnReplay | undefined;

  /** The inputs of other events that wait for this turn. */
  readonly waiting: WaitingInputs;
  /** Returns true if a committed turn has handled the event. */
  readonly isHandled: (input: TurnInput) => boolean;

  readonly log: TurnLogWriter;
  readonly effects: Effects;
  readonly conversation: Conversation;
  readonly deltas: DeltaGate;
  readonly toolResults: ToolCallResult[];
  /** Present when the answer of the turn must fit a schema. */
  readonly demand: Demand | undefined;
  /** Shared by all contexts of the turn; a layer may also assign another object. */
  metadata: Record<string, JsonValue>;
  /** The value of `ctx.runtime`, once a layer has read it. */
  runtime: RuntimeView | undefined;
  /** The span of the turn chain, once it has started; only if the turn is traced or recorded. */
  span: ChainSpan | undefined;
  /** The error that made the turn fail. */
  thrown?: unknown;
  /** The number of completed steps. */
  stepCount: number;
  /**
   * The part of the turn chain that is running, before or after the steps. The keys of the effects of turn layers
   * contain this phase.
   */
  phase: 'pre' | 'post';
  /** True while the layers of a resumed turn run again up to their `next()`; the log already has their events. */
  muted: boolean;

  /** The clock for every deadline inside the turn; paused while the turn waits for a person. */
  readonly clock: TurnClock;
  readonly signal: AbortSignal;
  readonly onAbort: Bounds['onAbort'];
  /** Takes the time limits of another policy for the rest of the turn. */
  readonly changeLimits: (policy: TurnPolicy) => void;
  /** The tokens of the turn so far, those of an interrupted run included. */
  used: TurnUsage;
  /** The waits of the end of the turn for tokens of requests that have ended before the called turn. Never reject. */
  readonly lateUsages: Promise<void>[];
  /** True once the end of the turn has waited for them. Tokens that arrive later are not counted here. */
  isCounted: boolean;
}

/** A change of a person to the arguments of a tool call. */
export interface PersonsChange {
  readonly by?: string;
  /** The door through which the answer came. */
  readonly via?: string;
  /** The id of the question. */
  readonly question?: string;
  /** The changed arguments, with secrets masked. */
  readonly args: JsonObject;
}

/** One step while it runs. */
export interface RunningStep extends StepIdentity {
  /** The digest of the step's plan; undefined when the plan is not JSON. */
  readonly plan: string | undefined;
  readonly span: ChainSpan | undefined;
  readonly spanIds: SpanIds;
  /** The tools registered when the step began; layers may change this catalog. */
  readonly catalog: ToolCatalog;
  /** The model of the step; model layers may choose another one. */
  modelRef: string;
  /** The extension that answered in place of the model. */
  repliedBy: string | undefined;
  /** Extensions that answered in place of a tool, by the id of the call. */
  readonly answeredBy: Map<string, string>;
  /** The changes of people to the arguments of calls, by the id of the call. */
  readonly changedBy: Map<string, PersonsChange>;
  /** The finish reason of the model's reply; undefined before the reply. */
  finishReason: ModelFinishReason | undefined;
  /** The problems of an answer that the model gave with `output__finish`, if none of its calls was accepted. */
  finishProblems: readonly string[] | undefined;
  /** The message id of the appended reply, or of the answer that the model gave with `output__finish`. */
  replyId: string | undefined;
  /** True if the model gave the answer of the turn with `output__finish`. */
  isFinished: boolean;
  /** True once the model has replied without a tool call. */
  isAnswered: boolean;
  /** True once a tool's handler has started; from then on the step cannot be dropped. */
  toolStarted: boolean;
  /** The events that layers emitted after the failure of the step had reached them. They survive a retry. */
  survivors: Survivor[];
}

/** A layer that requests an effect of its own. `step` is undefined for a turn layer. */
export interface LayerAsk {
  readonly turn: RunningTurn;
  readonly step: RunningStep | undefined;
  readonly scope: string;
  readonly layer: AskingLayer;
}

/** Throws the turn's abort reason if the turn was cancelled or timed out. */
export function refuseWhenOver({ signal }: RunningTurn): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  throw reason instanceof Error
    ? reason
    : new GoondanError('E_CANCELLED', 'The turn was cancelled.', { cause: reason });
}

/** Adds the tokens of an own model call. The call of an interrupted run, whose reply is recorded, is counted already. */
export function addOwnUsage(turn: RunningTurn, more: TokenUsage): void {
  turn.used = { ...turn.used, usage: sumUsage(turn.used.usage, more) };
}

/** Adds the tokens of a called agent. A recorded answer is counted already, too. */
export function addCalledUsage(turn: RunningTurn, more: TokenUsage): void {
  turn.used = addCalled(turn.used, more);
}
