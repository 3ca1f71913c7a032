/** `ctx.tools.call` of a turn or step layer. It runs through the same code as a model's call. */
import type { ExtensionIdentity, JsonObject, ToolCallResult } from '@goondan/types';
import type { LayerAsk } from '../turn-state/running-turn.ts';
import { askForLayer } from './ask-for-layer.ts';
import { runToolCall } from './run-tool-call.ts';

export async function callToolForLayer(
  ask: LayerAsk,
  toolName: string,
  input: JsonObject,
  caller: ExtensionIdentity | undefined,
): Promise<ToolCallResult> {
  return runToolCall(ask.turn, askForLayer(ask, toolName, input, undefined, caller));
}
