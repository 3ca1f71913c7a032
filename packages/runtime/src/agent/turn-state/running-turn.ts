/**
 * A turn while it runs, in three parts: who it is, what it writes and what bounds it. Chains, steps and calls share all
 * three; a function that needs only some of them says so. `open-turn.ts` makes it.
 */
import {
  type AgentEvent,
  GoondanError,
  type JsonValue,
  type TokenUsage,
  type ToolCallResult,
  type Turn,
} from '@goondan/types';
import type { ChainSpan, TurnObserver, SpanStart } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { TurnLog, TurnLogWriter } from '../conversation/turn-log.ts';
import type { AgentParts } from './agent-parts.ts';
import type { DeltaGate } from './delta-gate.ts';
import type { Effects } from './effects.ts';
import type { TurnClock } from './turn-clock.ts';
import type { TurnReplay } from './turn-replay.ts';

/** Known when it begins. */
export interface TurnIdentity {
  readonly agent: AgentParts;
  readonly event: AgentEvent;
  readonly turnId: string;
  readonly spanIds: SpanIds;
  /** The turn as step layers see it. */
  readonly shown: Turn;
  /** The records of an interrupted run of this turn. */
  readonly before: TurnLog;
  readonly resumed: boolean;
  readonly observer: TurnObserver | undefined;
  /** Present when nothing of it reaches the outside. */
  readonly replay: TurnReplay | undefined;
}

/** Written while it runs. */
export interface TurnWriting {
  readonly log: TurnLogWriter;
  readonly effects: Effects;
  readonly conversation: Conversation;
  readonly deltas: DeltaGate;
  readonly toolResults: ToolCallResult[];
  /** Shared by all contexts of the turn; a layer may also put another object in its place. */
  metadata: Record<string, JsonValue>;
  /** The turn's own chain, when somebody watches and it has started. */
  span: ChainSpan | undefined;
  /** The error that made it fail. */
  thrown?: unknown;
  /** Completed steps. */
  stepCount: number;
  /** The running part of the turn chain: effects of its layers are keyed by it. */
  phase: 'pre' | 'post';
  /** A resumed turn's layers run again before `next()`, but what they emit is in the log already. */
  muted: boolean;
}

export interface TurnBounds {
  /** For every deadline inside the turn: it stands still while a person is waited for. */
  readonly clock: TurnClock;
  readonly signal: AbortSignal;
  readonly usage: TokenUsage;
}

export interface RunningTurn extends TurnIdentity, TurnWriting, TurnBounds {}

/** A span for a chain of this turn, when somebody watches. */
export function watch(turn: TurnIdentity, chain: SpanStart, parent: ChainSpan | undefined): ChainSpan | undefined {
  return turn.observer?.chain(chain, parent);
}

/** Throws the turn's own reason when it was cancelled or is out of time. */
export function refuseWhenOver({ signal }: TurnBounds): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  throw reason instanceof Error
    ? reason
    : new GoondanError('E_CANCELLED', 'The turn was cancelled.', { cause: reason });
}

export function addUsage({ usage }: TurnBounds, more: TokenUsage): void {
  usage.inputTokens += more.inputTokens;
  usage.outputTokens += more.outputTokens;
  usage.totalTokens += more.totalTokens;
  if (more.cachedInputTokens !== undefined) {
    usage.cachedInputTokens = (usage.cachedInputTokens ?? 0) + more.cachedInputTokens;
  }
  if (more.reasoningTokens !== undefined) usage.reasoningTokens = (usage.reasoningTokens ?? 0) + more.reasoningTokens;
}
