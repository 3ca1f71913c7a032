import type { ToolCallResult } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import type { AgentParts } from '../turn-state/agent-parts.ts';

/** Makes the error result of a call for the model: with a code, with secrets masked, and cut to the tool's limit. */
export function errorResult(
  { tools, policy, mask }: AgentParts,
  call: { readonly toolCallId: string; readonly toolName: string },
  thrown: unknown,
  fallbackCode: string,
): ToolCallResult {
  const limit = tools.get(call.toolName)?.errorMessageLimit ?? policy.errorMessageLimit;
  const { message, code, suggestion, helpUrl } = toTurnError(thrown, fallbackCode, mask);
  return {
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    status: 'error',
    error: {
      ...(thrown instanceof Error ? { name: thrown.name } : {}),
      message: cut(message, limit),
      ...defined({ code, suggestion, helpUrl }),
    },
  };
}

function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, Math.max(0, limit - 1))}…` : text;
}
