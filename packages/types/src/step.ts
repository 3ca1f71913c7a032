import type { JsonValue } from './json.ts';
import type { ToolCall, ToolCallResult } from './tool.ts';

/** The outcome of one step: one model call and the tool calls it asked for. */
export interface StepResult {
  status: 'completed' | 'failed';
  /** True when the model asked for tools, so that another step follows. */
  hasToolCalls: boolean;
  toolCalls: ToolCall[];
  toolResults: ToolCallResult[];
  /**
   * JSON of the step's layers. The runtime puts `finishReason` there, as `ModelReply` has it. The turn is `truncated` when
   * that of its last step is `length` in the end: a layer that completes the reply says `stop`.
   */
  metadata: Record<string, JsonValue>;
}
