/** One tool call: the request, and its state on the way through the toolCall chain. */
import type { JsonObject, JsonValue, Message } from '@goondan/types';
import type { ChainSpan } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { CallApprovals } from './call-approvals.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';

export interface ToolCallAsk {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Arguments as the model wrote them; any JSON value. */
  readonly input: JsonValue;
  /** True if the reply was truncated in this call, so that its arguments may be incomplete. */
  readonly isCut?: boolean;
  readonly stepIndex: number;
  readonly stepId: string;
  /** The tools offered in the step; undefined when all registered tools are offered. */
  readonly offered: ToolCatalog | undefined;
  /** The key of the effect. */
  readonly key: string;
  readonly message: Message | undefined;
  readonly parent: ChainSpan | undefined;
  /** The span ids of this call. */
  readonly spanIds: SpanIds;
  /** Called just before the handler starts. */
  onStart(): void;
  /** Called when a layer returned the result without running the tool. */
  readonly onAnswered?: (extension: string) => void;
}

/** The state of a call in the chain. Layers may change only `args`. */
export interface RunningToolCall {
  readonly ask: ToolCallAsk;
  readonly approvals: CallApprovals;
  args: JsonObject;
  /** The error that the handler threw. */
  thrown?: unknown;
  /** Returns the unchecked arguments that the handler would get now. */
  finalArguments(): JsonValue;
}
