/** A failed tool call: its result for the model, and its line in the log. */
import { GoondanError, type ToolCallResult } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { readField } from '../../json/read-field.ts';
import { aboutThrown } from '../../log/about-thrown.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import type { AgentParts } from '../turn-state/agent-parts.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { ToolCallAsk } from './running-tool-call.ts';

/** Makes the error result of a call for the model: with a code, with secrets masked, and cut to the tool's limit. */
export function errorResult(
  { tools, plan, mask }: AgentParts,
  { toolCallId, toolName }: ToolCallAsk,
  thrown: unknown,
  fallbackCode: string,
): ToolCallResult {
  const limit = tools.get(toolName)?.errorMessageLimit ?? plan.policy.errorMessageLimit;
  const { message, code, suggestion, helpUrl } = toTurnError(thrown, fallbackCode, mask);
  const name = thrown instanceof Error ? readField(thrown, 'name') : undefined;
  const named = typeof name === 'string' ? { name: mask(name) } : {};
  const error = { ...named, message: cut(message, limit), ...defined({ code, suggestion, helpUrl }) };
  return { toolCallId, toolName, status: 'error', error };
}

function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, Math.max(0, limit - 1))}…` : text;
}

/**
 * Logs a tool call whose handler, or a layer around it, threw. The model gets only the error's message. An error with a
 * code that bundle code did not throw is an expected answer, such as a rejection, and is logged as info. `extension`:
 * the extension of the handler or the layer.
 */
export function logFailedCall(
  { agent, signal }: RunningTurn,
  { toolName }: ToolCallAsk,
  thrown: unknown,
  fallbackCode: string,
  extension: string | undefined,
): void {
  // When a turn is cancelled its tools are aborted, and their errors are not failures.
  if (signal.aborted) return;
  const { code = null, message } = toTurnError(thrown, fallbackCode);
  const origin = agent.locate(thrown);
  const isAnswer = GoondanError.is(thrown) && origin.place === undefined;
  agent.log(isAnswer ? 'info' : 'warn', `Tool "${toolName}" failed: ${message}`, {
    event: 'tool.failed',
    ...(extension === undefined ? {} : { extension }),
    ...aboutThrown(origin, { code }),
  });
}
