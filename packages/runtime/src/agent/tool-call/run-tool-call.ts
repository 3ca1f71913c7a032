/** The one road to a tool: the toolCall chain, then the handler. What goes wrong is a result the model can read. */
import type { JsonObject, JsonValue, Message, ToolCallResult } from '@goondan/types';
import { copyJson, copyJsonObject, NotJson } from '../../json/copy-json.ts';
import type { ChainSpan } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import { problemWithToolCallResult } from '../pipeline/result-shapes.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';
import { invokeTool } from '../tool/invoke-tool.ts';
import { runChain } from '../turn/run-chain.ts';
import { type TurnRun, watch } from '../turn/turn-run.ts';
import { errorResult } from './error-result.ts';
import { previewArguments, previewError } from './preview-call.ts';
import { type RunningToolCall, ToolCallContext } from './tool-call-context.ts';

export interface ToolCallAsk {
  readonly toolCallId: string;
  readonly toolName: string;
  /** As the model wrote them: anything. */
  readonly input: JsonValue;
  readonly stepIndex: number;
  readonly stepId: string;
  /** What the step offers; undefined when every registered tool is. */
  readonly offered: ToolCatalog | undefined;
  /** Names the effect. */
  readonly key: string;
  readonly message: Message | undefined;
  readonly parent: ChainSpan | undefined;
  /** The call's own. */
  readonly spanIds: SpanIds;
  /** The handler is about to begin. */
  onStart(): void;
}

export async function runToolCall(run: TurnRun, ask: ToolCallAsk): Promise<ToolCallResult> {
  const { toolCallId, toolName, stepIndex, stepId } = ask;
  const { agent, turnId } = run;
  const startedAt = agent.clock.elapsed();
  let args: string | undefined;
  const named = () => ({
    toolCallId,
    toolName,
    args: (args ??= previewArguments(ask.input, agent.mask)),
    stepId,
    turnId,
    agentName: agent.address.agentName,
    timestamp: agent.clock.now().toISOString(),
    ...ask.spanIds.fields,
  });
  agent.bus.tell('tool.called', named);

  const placeholder = {};
  const call: RunningToolCall = { toolCallId, toolName, stepIndex, args: copyArguments(ask.input) ?? placeholder };
  // Arguments that were none are refused as they were, unless a layer has put some in their place.
  const finalArguments = () => (isUntouched(call.args, placeholder) ? ask.input : call.args);
  const span = watch(
    run,
    { kind: 'toolCall', label: toolName, id: toolCallId, inspect: () => inspect(call) },
    ask.parent,
  );
  try {
    const result = await runChain<ToolCallResult>(run, {
      kind: 'toolCall',
      span,
      contextFor: (asking, next) => new ToolCallContext(run, call, asking, next),
      core: () => invokeTool(run, ask, finalArguments()),
      problemWith: (value) => problemWithToolCallResult(value, toolCallId, toolName),
    });
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('tool.completed', () => ({
      ...named(),
      status: result.status,
      duration,
      ...(result.error === undefined ? {} : { error: previewError(result.error, agent.mask) }),
    }));
    return result;
  } catch (error) {
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('tool.failed', () => ({
      ...named(),
      duration,
      error: toTurnError(error, 'E_EXT_MIDDLEWARE', agent.mask),
    }));
    return errorResult(run, ask, error, 'E_EXT_MIDDLEWARE');
  }
}

/** For the layers to read and change; undefined when the asker gave no JSON object. */
function copyArguments(input: unknown): JsonObject | undefined {
  try {
    return copyJsonObject(input, { omitUndefined: true });
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

function isUntouched(args: JsonObject, placeholder: object): boolean {
  return args === placeholder && Object.keys(args).length === 0;
}

function inspect(call: RunningToolCall): JsonValue {
  return { args: copyJson(call.args, { omitUndefined: true }) };
}
