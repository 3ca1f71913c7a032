import type { JsonValue } from './json.ts';
import type { ToolCall, ToolCallResult } from './tool.ts';

/** The outcome of one step: one model call and the tool calls it asked for. */
export interface StepResult {
  status: 'completed' | 'failed';
  /** True when the model asked for tools, so another step follows. */
  hasToolCalls: boolean;
  toolCalls: ToolCall[];
  toolResults: ToolCallResult[];
  /**
   * JSON of the step's layers. The runtime adds the `finishReason` of the `ModelReply`. The turn is `truncated` if the
   * final value of its last step is `length`; a layer that completes the reply sets it to `stop`.
   */
  metadata: Record<string, JsonValue>;
}
