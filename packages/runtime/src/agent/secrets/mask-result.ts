/** Masks secrets in the results of tools and steps: in their content, but not in ids and codes. */
import type { JsonObject, JsonValue, StepResult, ToolCallResult } from '@goondan/types';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';

export function maskToolResult(result: ToolCallResult, mask: Mask): ToolCallResult {
  if (mask.isEmpty === true) return result;
  const { output, error } = result;
  // Safe: the fields are the same as before.
  return {
    ...result,
    ...(output === undefined ? {} : { output: maskJson(output, mask) }),
    // The code of an error is not masked.
    ...(error === undefined ? {} : { error: { ...masked(error, mask), ...(error.code && { code: error.code }) } }),
  } as ToolCallResult;
}

export function maskStepResult(result: StepResult, mask: Mask): StepResult {
  if (mask.isEmpty === true) return result;
  return {
    ...result,
    toolCalls: result.toolCalls.map((call) => ({ ...call, args: masked(call.args, mask) })),
    toolResults: result.toolResults.map((each) => maskToolResult(each, mask)),
    metadata: masked(result.metadata, mask),
  };
}

/** Masks a value. Masking does not change its shape. */
function masked<Value extends JsonObject | Readonly<Record<string, unknown>> | object>(
  value: Value,
  mask: Mask,
): Value {
  return maskJson(value as unknown as JsonValue, mask) as unknown as Value;
}
