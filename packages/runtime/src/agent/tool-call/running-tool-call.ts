/** One tool call: the request, and its state on the way through the toolCall chain. */
import type { GoondanError, JsonObject, JsonValue, Message, ToolCaller, ToolCallResult } from '@goondan/types';
import type { ChainSpan, WatchedLayer } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { RunningStep } from '../turn-state/running-turn.ts';
import type { CallApprovals } from './call-approvals.ts';

export interface ToolCallAsk {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Arguments as the model wrote them; any JSON value. */
  readonly input: JsonValue;
  /** True if the reply was truncated in this call, so that its arguments may be incomplete. */
  readonly isCut?: boolean;
  /**
   * The step of the call, whose catalog must offer the tool. Undefined for a call by a turn layer, which may call every
   * tool.
   */
  readonly step: RunningStep | undefined;
  /** The key of the effect. */
  readonly key: string;
  /** The message with the call; undefined for a call by a layer. */
  readonly message: Message | undefined;
  /** The layers that made this call, outermost first; empty for a call by the model. */
  readonly callers: readonly ToolCaller[];
  /** The last of these layers, for the trace. */
  readonly by?: WatchedLayer;
  /** The call whose layer made this call. Undefined for a call by the model, or by a layer of a turn or a step. */
  readonly outer: RunningToolCall | undefined;
}

/** The state of a call in the chain. Layers may change only `args`. */
export interface RunningToolCall extends ToolCallAsk {
  readonly stepIndex: number;
  /** The span ids of this call. */
  readonly spanIds: SpanIds;
  /** The span of the call's chain, once it has started; only if the turn is traced or recorded. */
  span: ChainSpan | undefined;
  readonly approvals: CallApprovals;
  args: JsonObject;
  /** The error that the handler threw. */
  thrown?: unknown;
  /** The error that ended the call, because its process stops while the call waits for a person. */
  stopped?: GoondanError;
  /** Runs a call that a layer of this call makes. */
  runInside(ask: ToolCallAsk): Promise<ToolCallResult>;
  /** Returns a short form of the input for watchers, with secrets masked. */
  preview(): string;
  /** Returns the unchecked arguments that the handler would get now. */
  finalArguments(): JsonValue;
}
