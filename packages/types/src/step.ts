import type { JsonValue } from './json.ts';
import type { ToolCall, ToolCallResult } from './tool.ts';

/** The outcome of one step: one model call and the tool calls that the model requested. */
export interface StepResult {
  status: 'completed' | 'failed';
  /**
   * True when the model requested tool calls, so that another step follows. A call of `output__finish` that gave the
   * answer of the turn does not count.
   */
  hasToolCalls: boolean;
  toolCalls: ToolCall[];
  toolResults: ToolCallResult[];
  /**
   * JSON values that the step's layers set. The runtime adds the `finishReason` of the `ModelReply`. If `finishReason`
   * is `length` at the end of the last step, the turn is `truncated`. A layer that completes the reply sets it to
   * `stop`.
   */
  metadata: Record<string, JsonValue>;
}
