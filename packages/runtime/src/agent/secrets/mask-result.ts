/** Masks secrets in the results of tools and steps: in their content, but not in ids and codes. */
import type { JsonObject, JsonValue, StepResult, ToolCall, ToolCallResult } from '@goondan/types';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';

export function maskToolResult(result: ToolCallResult, mask: Mask): ToolCallResult {
  if (mask.isEmpty === true) return result;
  const { output, error } = result;
  const maskedOutput = output === undefined ? undefined : maskJson(output, mask);
  const maskedError = error === undefined ? undefined : masked(error, mask);
  if (maskedOutput === output && maskedError === error) return result;
  // Safe: the fields are the same as before.
  return {
    ...result,
    ...(output === undefined ? {} : { output: maskedOutput }),
    // The code of an error is not masked.
    ...(error === undefined ? {} : { error: { ...maskedError, ...(error.code && { code: error.code }) } }),
  } as ToolCallResult;
}

export function maskStepResult(result: StepResult, mask: Mask): StepResult {
  if (mask.isEmpty === true) return result;
  const { toolCalls, toolResults } = result;
  return {
    ...result,
    toolCalls: mapChanged(toolCalls, (call) => maskCall(call, mask)),
    toolResults: mapChanged(toolResults, (each) => maskToolResult(each, mask)),
    metadata: masked(result.metadata, mask),
  };
}

function maskCall(call: ToolCall, mask: Mask): ToolCall {
  const args = masked(call.args, mask);
  return args === call.args ? call : { ...call, args };
}

/** Returns the same array if no item changes. */
function mapChanged<Item>(items: Item[], change: (item: Item) => Item): Item[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}

/** Masks a value. Masking does not change its shape. */
function masked<Value extends JsonObject | Readonly<Record<string, unknown>> | object>(
  value: Value,
  mask: Mask,
): Value {
  return maskJson(value as unknown as JsonValue, mask) as unknown as Value;
}
