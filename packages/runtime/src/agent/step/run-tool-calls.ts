/**
 * Runs the tool calls of one step: the parallel ones at the same time, then the others one after the other. The call that
 * ends the turn is the last one.
 */
import type { AssistantPart, Message, ToolCall, ToolCallPart, ToolCallResult } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { FINISH_TOOL } from '../../config/tool-name.ts';
import { runToolCall } from '../tool-call/run-tool-call.ts';
import type { ToolCallAsk } from '../tool-call/running-tool-call.ts';
import type { RunningStep, RunningTurn } from '../turn-state/running-turn.ts';

/**
 * Runs the calls. Returns the results in the order of the calls, whatever order they finished in. `message`: the
 * message with the calls. `cutPart`: the last part of a truncated reply; a call in that part may be incomplete.
 */
export async function runToolCalls(
  turn: RunningTurn,
  step: RunningStep,
  parts: readonly ToolCallPart[],
  message: Message | undefined,
  cutPart: AssistantPart | undefined,
): Promise<ToolCallResult[]> {
  if (parts.length === 0) return [];
  const asks = parts.map((part): ToolCallAsk => {
    const { toolCallId, toolName, input } = part;
    const key = `${step.stepIndex}/call/${toolCallId}`;
    return { toolCallId, toolName, input, isCut: part === cutPart, step, key, message, callers: [], outer: undefined };
  });
  const results = new Map<ToolCallAsk, ToolCallResult>();
  const isParallel = (ask: ToolCallAsk) => turn.agent.tools.get(ask.toolName)?.parallel === true;
  const parallel = asks.filter(isParallel);
  if (parallel.length > 0) {
    await Promise.all(parallel.map(async (ask) => results.set(ask, await runToolCall(turn, ask))));
  }
  const isLast = ({ toolName }: ToolCallAsk) => toolName === FINISH_TOOL;
  for (const ask of [...asks.filter((each) => !isLast(each)), ...asks.filter(isLast)]) {
    if (!results.has(ask)) results.set(ask, await runToolCall(turn, ask));
  }
  return asks.flatMap((ask) => results.get(ask) ?? []);
}

/** Returns a call as the step's result shows it. Arguments that are not an object are shown as an empty object. */
export function toToolCall(part: ToolCallPart): ToolCall {
  return { id: part.toolCallId, name: part.toolName, args: isPlainObject(part.input) ? part.input : {} };
}
