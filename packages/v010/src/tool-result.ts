/** Converts the result of a tool call to the `ToolResult` of v0.10 and back. */
import type { ToolCallError, ToolCallResult } from '@goondan/types';
import { compatError, resultError } from './compat-error.ts';
import { isSame } from './llm-result.ts';
import type { OldToolResult } from './old-types.ts';

export function toOldResult({ toolCallId, toolName, status, output = null, error }: ToolCallResult): OldToolResult {
  return {
    toolCallId,
    toolName,
    output,
    status,
    ...(error === undefined ? {} : { error: { ...error, name: error.name ?? 'Error' } }),
  };
}

const SHAPE =
  "A tool result is `{ toolCallId, toolName, output, status: 'ok' }`; with `status: 'error'`, it also has an `error` with a `message`.";

/** Checks a result of a function of v0.10. */
export function checkResult(
  value: unknown,
  { toolCallId, toolName }: Pick<OldToolResult, 'toolCallId' | 'toolName'>,
  extension: string,
  point: string,
): OldToolResult {
  const refuse = (problem: string) => resultError(extension, point, problem, SHAPE);
  if (typeof value !== 'object' || value === null) {
    throw refuse(value === undefined ? 'it returned nothing' : 'it returned no tool result');
  }
  const { status, handle, error } = value as Record<string, unknown>;
  if (status === 'pending' || handle !== undefined) {
    throw compatError(
      extension,
      `returned ${status === 'pending' ? 'a pending result' : 'a result with a handle'} at ${point}`,
      'Wait for the result before you return. A tool that takes long can send an event to the agent when it is done.',
    );
  }
  const result = { toolCallId, toolName, output: null, ...value } as OldToolResult;
  if (result.toolCallId !== toolCallId || result.toolName !== toolName) {
    throw refuse(`the result is not that of call "${toolCallId}" of "${toolName}"`);
  }
  if (status !== 'ok' && status !== 'error') throw refuse('status is neither ok nor error');
  if (status === 'error' && typeof (error as ToolCallError | undefined)?.message !== 'string') {
    throw refuse('the error of the result has no message');
  }
  return result;
}

/** Returns the result for the runtime: the one that the tool gave, if nobody changed it. */
export function toNewResult(result: OldToolResult, before: ToolCallResult | undefined): ToolCallResult {
  if (before !== undefined && isSame(result, toOldResult(before))) return before;
  const { toolCallId, toolName, output, error } = result;
  const call = { toolCallId, toolName };
  if (result.status === 'ok') return { ...call, output, status: 'ok' };
  const { name, message = '', code, suggestion, helpUrl } = error ?? {};
  const texts = { name, code, suggestion, helpUrl };
  const known = Object.entries(texts).filter(([, text]) => typeof text === 'string');
  const partial = output === null ? {} : { output };
  return { ...call, ...partial, status: 'error', error: { message, ...Object.fromEntries(known) } };
}
