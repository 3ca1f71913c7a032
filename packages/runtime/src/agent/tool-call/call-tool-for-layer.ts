/**
 * `ctx.tools.call`: a layer's own tool call. It runs through the same code as a model's call, but is not part of the
 * conversation.
 */
import type { JsonObject, ToolCallResult } from '@goondan/types';
import type { LayerAsk } from '../turn-state/running-step.ts';
import { runToolCall } from './run-tool-call.ts';

export function callToolForLayer(ask: LayerAsk, name: string, args: JsonObject): Promise<ToolCallResult> {
  const { turn, step, scope } = ask;
  const key = turn.effects.nextKey(scope, 'tool');
  return runToolCall(turn, {
    // A resumed turn must make the same id again, as for every tool call.
    toolCallId: `${turn.turnId}:${key}`,
    toolName: name,
    input: args,
    stepIndex: step?.stepIndex ?? turn.stepCount,
    stepId: step?.stepId ?? turn.turnId,
    offered: step?.catalog,
    key,
    message: undefined,
    parent: step?.span ?? turn.span,
    spanIds: (step ?? turn).spanIds.inside(key),
    onStart: () => {
      if (step !== undefined) step.toolStarted = true;
    },
  });
}
