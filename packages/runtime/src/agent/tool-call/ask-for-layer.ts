import type { ExtensionIdentity, JsonObject } from '@goondan/types';
import { PartIdentity } from '../pipeline/part-identity.ts';
import type { LayerAsk } from '../turn-state/running-turn.ts';
import type { RunningToolCall, ToolCallAsk } from './running-tool-call.ts';

/**
 * Makes a layer's own tool call, which is not part of the conversation. `outer`: the call whose layer calls the tool;
 * undefined for a layer of a turn or a step. `by`: the extension in whose name the layer calls, if it is another one.
 */
export function askForLayer(
  { turn, step, scope, layer }: LayerAsk,
  toolName: string,
  input: JsonObject,
  outer: RunningToolCall | undefined,
  by: ExtensionIdentity | undefined,
): ToolCallAsk {
  const key = turn.effects.nextKey(scope, 'tool');
  // A resumed turn must make the same id again, as for every tool call.
  const toolCallId = `${turn.turnId}:${key}`;
  const { extension, tier } = by === undefined ? layer.layer : PartIdentity.extensionOf(by);
  // Frozen, because the layers of this call and of all calls inside it share the list.
  const callers = Object.freeze([...(outer?.callers ?? []), Object.freeze({ extension, tier })]);
  return { toolCallId, toolName, input, step, key, message: undefined, callers, by: layer.layer, outer };
}
