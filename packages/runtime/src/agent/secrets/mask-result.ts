/** Masks secrets in the results of tools: in their content, but not in ids. */
import type { JsonObject, JsonValue, ToolCallResult } from '@goondan/types';
import { type Mask, maskCode, maskJson } from '../../log/mask-secrets.ts';

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
    ...(error === undefined
      ? {}
      : { error: { ...maskedError, ...(error.code && { code: maskCode(error.code, mask) }) } }),
  } as ToolCallResult;
}

/** Masks a value. Masking does not change its shape. */
function masked<Value extends JsonObject | Readonly<Record<string, unknown>> | object>(
  value: Value,
  mask: Mask,
): Value {
  return maskJson(value as unknown as JsonValue, mask) as unknown as Value;
}
