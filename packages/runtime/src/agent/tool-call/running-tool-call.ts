/** One tool call: the request, and its state while it passes the toolCall chain. */
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
  /** True when the reply was truncated in this call: its arguments may be incomplete. */
  readonly isCut?: boolean;
  readonly stepIndex: number;
  readonly stepId: string;
  /** Tools offered in the step; undefined when every registered tool is offered. */
  readonly offered: ToolCatalog | undefined;
  /** Key of the effect. */
  readonly key: string;
  readonly message: Message | undefined;
  readonly parent: ChainSpan | undefined;
  /** Span ids of this call. */
  readonly spanIds: SpanIds;
  /** Called just before the handler starts. */
  onStart(): void;
  /** Called when a layer returned the result, so that the tool was not reached. */
  readonly onAnswered?: (extension: string) => void;
}

/** Layers may change only `args`. */
export interface RunningToolCall {
  readonly ask: ToolCallAsk;
  readonly approvals: CallApprovals;
  args: JsonObject;
  /** The error that the handler threw. */
  thrown?: unknown;
  /** Arguments that the handler would get now; not checked yet. */
  finalArguments(): JsonValue;
}
