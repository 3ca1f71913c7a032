/** The state of one running turn. Chains, steps and calls share it; `open-turn.ts` makes it. */
import type { AgentEvent, JsonValue, TokenUsage, ToolCallResult, Turn } from '@goondan/types';
import type { ChainSpan, TurnObserver, WatchedChain } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { AgentParts } from './agent-parts.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { TurnLog, TurnLogWriter } from '../conversation/turn-log.ts';
import type { Effects } from './effects.ts';
import type { TurnReplay } from './turn-replay.ts';
import type { DeltaGate } from './delta-gate.ts';
import type { TurnClock } from './turn-clock.ts';

export interface RunningTurn {
  readonly agent: AgentParts;
  readonly event: AgentEvent;
  readonly shown: Turn;
  readonly turnId: string;
  readonly traceId: string;
  readonly spanIds: SpanIds;
  /** The store's fence for this turn's writes. */
  readonly epoch: number;
  /** How many commits the base has seen. */
  readonly version: number;
  /** By extension name: what a turn that cannot be committed goes back to. */
  readonly stateAtStart: Readonly<Record<string, JsonValue>>;
  /** On the clock that only grows, for durations. */
  readonly startedAt: number;
  /** For every deadline inside the turn: it stands still while a person is waited for. */
  readonly clock: TurnClock;
  readonly conversation: Conversation;
  readonly effects: Effects;
  readonly log: TurnLogWriter;
  /** What an interrupted run of this turn had recorded. */
  readonly before: TurnLog;
  readonly resumed: boolean;
  readonly signal: AbortSignal;
  readonly toolResults: ToolCallResult[];
  readonly usage: TokenUsage;
  readonly deltas: DeltaGate;
  readonly observer: TurnObserver | undefined;
  /** Present when nothing of it reaches the outside. */
  readonly replay: TurnReplay | undefined;
  /** The turn's own chain, when somebody watches and it has started. */
  span: ChainSpan | undefined;
  /** Shared by all contexts of the turn; a layer may also put another object in its place. */
  metadata: Record<string, JsonValue>;
  /** The error that made it fail. */
  thrown?: unknown;
  /** Completed steps. */
  stepCount: number;
  /** Which part of the turn chain is running: effects of its layers are keyed by it. */
  phase: 'pre' | 'post';
  /** A resumed turn's layers run again before `next()`, but what they emit is in the log already. */
  muted: boolean;
}

/** A span for a chain of this turn, when somebody watches. */
export function watch(turn: RunningTurn, chain: WatchedChain, parent: ChainSpan | undefined): ChainSpan | undefined {
  return turn.observer?.chain(chain, parent);
}

export function addUsage(total: TokenUsage, more: TokenUsage): void {
  total.inputTokens += more.inputTokens;
  total.outputTokens += more.outputTokens;
  total.totalTokens += more.totalTokens;
  if (more.cachedInputTokens !== undefined) {
    total.cachedInputTokens = (total.cachedInputTokens ?? 0) + more.cachedInputTokens;
  }
  if (more.reasoningTokens !== undefined) total.reasoningTokens = (total.reasoningTokens ?? 0) + more.reasoningTokens;
}
