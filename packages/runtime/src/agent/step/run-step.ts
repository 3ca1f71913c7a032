/** One step: the step chain around one model call and the tool calls it asks for. */
import type { JsonValue, StepResult, ToolCallPart } from '@goondan/types';
import type { ChainSpan } from '../../trace/layer-span.ts';
import { removeEphemeral } from '../conversation/remove-ephemeral.ts';
import { callModel } from '../model/call-model.ts';
import { runOnion } from '../pipeline/onion.ts';
import { problemWithStepResult } from '../pipeline/result-shapes.ts';
import { addUsage, type TurnRun, watch } from '../turn/turn-run.ts';
import { offeredNames } from './offered-names.ts';
import { runToolCalls, toToolCall } from './run-tool-calls.ts';
import type { RunningStep } from './running-step.ts';
import { StepContext } from './step-context.ts';
import { appendReply, appendToolResult } from './step-messages.ts';

/** The same step has the same id, also after a crash. */
export function stepIdOf(turnId: string, stepIndex: number): string {
  return `${turnId}.step-${stepIndex}`;
}

export function startStep(run: TurnRun, stepIndex: number, parent: ChainSpan | undefined): RunningStep {
  const stepId = stepIdOf(run.turnId, stepIndex);
  const step: RunningStep = {
    stepId,
    stepIndex,
    span: watch(run, { kind: 'step', label: String(stepIndex), id: stepId, inspect: () => inspect(step) }, parent),
    toolCatalog: run.agent.tools.catalog(),
    replyId: undefined,
    toolStarted: false,
  };
  return step;
}

export async function runStep(run: TurnRun, step: RunningStep): Promise<StepResult> {
  const result = await runOnion<StepResult>({
    kind: 'step',
    layers: run.agent.layers.of('step'),
    contextFor: (asking, next) => new StepContext(run, step, asking, next),
    core: () => callModelAndTools(run, step),
    problemWith: problemWithStepResult,
    clock: run.agent.clock,
    warn: run.warn,
    span: step.span,
  });
  removeEphemeral(run.conversation, 'step', step.stepId);
  return result;
}

async function callModelAndTools(run: TurnRun, step: RunningStep): Promise<StepResult> {
  offeredNames(step.toolCatalog);
  const reply = await callModel(run, {
    call: {
      messages: run.conversation.state.toLlmMessages(),
      tools: [...step.toolCatalog],
      params: { ...run.agent.params },
      modelRef: run.agent.modelRef,
      stepIndex: step.stepIndex,
      extensionName: undefined,
    },
    key: `${step.stepIndex}/model`,
    parent: step.span,
    onDelta: (delta) => run.deltas.streaming({ stepId: step.stepId, stepIndex: step.stepIndex }, delta),
  });
  addUsage(run.usage, reply.usage);
  run.deltas.modelFinished({ stepId: step.stepId, stepIndex: step.stepIndex }, reply);
  const message = appendReply(run, step, reply);
  await run.log.flush();

  const parts = reply.content.filter((part) => part.type === 'tool-call').filter(isOurs);
  const toolResults = await runToolCalls(run, step, parts, message);
  toolResults.forEach((result, number) => appendToolResult(run, step, result, number));
  run.toolResults.push(...toolResults);
  return {
    status: 'completed',
    hasToolCalls: parts.length > 0,
    toolCalls: parts.map(toToolCall),
    toolResults,
    metadata: {},
  };
}

/** Calls the provider ran itself come with their results. */
function isOurs(part: ToolCallPart): boolean {
  return part.providerExecuted !== true;
}

function inspect(step: RunningStep): JsonValue {
  const items = step.toolCatalog.map((item) => [item.name, structuredClone(item)] as const);
  return { toolCatalog: Object.fromEntries(items) } as unknown as JsonValue;
}
