/** The one road to a tool: the toolCall chain, then the handler. What goes wrong is a result the model can read. */
import type { JsonValue, Message, ToolCallResult } from '@goondan/types';
import { copyJson, copyJsonObject, isPlainObject } from '../../json/copy-json.ts';
import type { ChainSpan } from '../../trace/layer-span.ts';
import { runOnion } from '../pipeline/onion.ts';
import { problemWithToolCallResult } from '../pipeline/result-shapes.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { invokeTool } from '../tool/invoke-tool.ts';
import { type TurnRun, watch } from '../turn/turn-run.ts';
import { errorResult } from './error-result.ts';
import { type RunningToolCall, ToolCallContext } from './tool-call-context.ts';

export interface ToolCallAsk {
  readonly toolCallId: string;
  readonly toolName: string;
  /** As the model wrote them: anything. */
  readonly input: JsonValue;
  readonly stepIndex: number;
  readonly stepId: string;
  /** Names offered; undefined when every registered tool is. */
  readonly offered: ReadonlySet<string> | undefined;
  /** Names the effect. */
  readonly key: string;
  readonly message: Message | undefined;
  readonly parent: ChainSpan | undefined;
  /** The handler is about to begin. */
  onStart(): void;
}

export async function runToolCall(run: TurnRun, ask: ToolCallAsk): Promise<ToolCallResult> {
  const { toolCallId, toolName, stepIndex, stepId } = ask;
  const { agent, turnId } = run;
  const startedAt = agent.clock.elapsed();
  const named = () => ({
    toolCallId,
    toolName,
    stepId,
    turnId,
    agentName: agent.address.agentName,
    timestamp: agent.clock.now().toISOString(),
  });
  agent.bus.tell('tool.called', named);

  const placeholder = {};
  const call: RunningToolCall = {
    toolCallId,
    toolName,
    stepIndex,
    args: isPlainObject(ask.input) ? copyJsonObject(ask.input) : placeholder,
  };
  const span = watch(
    run,
    { kind: 'toolCall', label: toolName, id: toolCallId, inspect: () => inspect(call) },
    ask.parent,
  );
  try {
    const result = await runOnion<ToolCallResult>({
      kind: 'toolCall',
      layers: agent.layers.of('toolCall'),
      contextFor: (asking, next) => new ToolCallContext(run, call, asking, next),
      // Arguments that were no object are refused, unless a layer has put an object in their place.
      core: () => invokeTool(run, ask, call.args === placeholder ? ask.input : call.args),
      problemWith: (value) => problemWithToolCallResult(value, toolCallId, toolName),
      clock: agent.clock,
      warn: run.warn,
      span,
    });
    span?.end();
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('tool.completed', () => ({ ...named(), status: result.status, duration }));
    return result;
  } catch (error) {
    span?.end(error);
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('tool.failed', () => ({ ...named(), duration, error: toTurnError(error, 'E_EXT_MIDDLEWARE') }));
    return errorResult(run, ask, error, 'E_EXT_MIDDLEWARE');
  }
}

function inspect(call: RunningToolCall): JsonValue {
  return { args: copyJson(call.args, { omitUndefined: true }) };
}
