/** Results of tools and steps without secrets: what they say, not what they are. */
import type { JsonObject, JsonValue, StepResult, ToolCallResult } from '@goondan/types';
import { type Mask, maskJson, noSecrets } from '../../log/mask-secrets.ts';

export function maskToolResult(result: ToolCallResult, mask: Mask): ToolCallResult {
  if (mask === noSecrets) return result;
  const { output, error } = result;
  return {
    ...result,
    ...(output === undefined ? {} : { output: maskJson(output, mask) }),
    // An error is texts, and of those the code is ours.
    ...(error === undefined ? {} : { error: { ...masked(error, mask), ...(error.code && { code: error.code }) } }),
  };
}

export function maskStepResult(result: StepResult, mask: Mask): StepResult {
  if (mask === noSecrets) return result;
  return {
    ...result,
    toolCalls: result.toolCalls.map((call) => ({ ...call, args: masked(call.args, mask) })),
    toolResults: result.toolResults.map((each) => maskToolResult(each, mask)),
    metadata: masked(result.metadata, mask),
  };
}

/** An object with every text in it masked is such an object. */
function masked<Value extends JsonObject | Readonly<Record<string, unknown>> | object>(
  value: Value,
  mask: Mask,
): Value {
  return maskJson(value as unknown as JsonValue, mask) as unknown as Value;
}
