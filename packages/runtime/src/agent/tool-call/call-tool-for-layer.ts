/**
 * `ctx.tools.call`: a layer's own tool call. It runs through the same code as a model's call, but is not part of the
 * conversation.
 */
import type { JsonObject, ToolCallResult } from '@goondan/types';
import type { LayerAsk } from '../turn-state/running-turn.ts';
import { runToolCall } from './run-tool-call.ts';

export function callToolForLayer(
  { turn, step, scope }: LayerAsk,
  toolName: string,
  input: JsonObject,
): Promise<ToolCallResult> {
  const key = turn.effects.nextKey(scope, 'tool');
  // A resumed turn must make the same id again, as for every tool call.
  const toolCallId = `${turn.turnId}:${key}`;
  return runToolCall(turn, { toolCallId, toolName, input, step, key, message: undefined });
}
