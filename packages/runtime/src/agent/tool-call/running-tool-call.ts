/** One tool call: as it was asked for, and on its way through the toolCall chain. */
import type { JsonObject, JsonValue, Message } from '@goondan/types';
import type { ChainSpan } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { CallApprovals } from './call-approvals.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';

export interface ToolCallAsk {
  readonly toolCallId: string;
  readonly toolName: string;
  /** As the model wrote them: anything. */
  readonly input: JsonValue;
  /** The reply ended at a limit of tokens in it: its arguments may be half, and nobody can tell. */
  readonly isCut?: boolean;
  readonly stepIndex: number;
  readonly stepId: string;
  /** What the step offers; undefined when every registered tool is. */
  readonly offered: ToolCatalog | undefined;
  /** Names the effect. */
  readonly key: string;
  readonly message: Message | undefined;
  readonly parent: ChainSpan | undefined;
  /** The call's own. */
  readonly spanIds: SpanIds;
  /** The handler is about to begin. */
  onStart(): void;
  /** The tool was not reached: a layer had the result. */
  readonly onAnswered?: (extension: string) => void;
}

/** Layers may change `args` only. */
export interface RunningToolCall {
  readonly ask: ToolCallAsk;
  readonly approvals: CallApprovals;
  args: JsonObject;
  /** The error that the handler threw. */
  thrown?: unknown;
  /** What the handler would get now; foreign until it is checked. */
  finalArguments(): JsonValue;
}
