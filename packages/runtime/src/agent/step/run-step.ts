/** Runs one step: the step chain around one model call and the tool calls that the model requested. */
import type { AgentEvent, ModelMessage, ModelReply, StepResult } from '@goondan/types';
import { callModel } from '../model-call/call-model.ts';
import { readStepResult } from '../pipeline/result-shapes.ts';
import { ToolCatalog } from '../tool/tool-catalog.ts';
import { runChain } from '../pipeline/run-chain.ts';
import type { RunningTurn, RunningStep } from '../turn-state/running-turn.ts';
import { runToolCalls, toToolCall } from './run-tool-calls.ts';
import { StepContext } from './powerful-context.ts';
import { takeFinish } from './take-finish.ts';
import { appendReply, appendToolResult } from './step-messages.ts';

/** Returns the id of a step. A step has the same id after a crash. */
export function stepIdOf(turnId: string, stepIndex: number): string {
  return `${turnId}.step-${stepIndex}`;
}

/** Returns the key of the effect that records the reply of a step's model. */
export function replyKeyOf(stepIndex: number): string {
  return `${stepIndex}/model`;
}

/** `took`: the events whose inputs the turn took just before the step. */
export function startStep(turn: RunningTurn, stepIndex: number, took: readonly AgentEvent[] = []): RunningStep {
  const stepId = stepIdOf(turn.turnId, stepIndex);
  const spanIds = turn.spanIds.inside(stepId);
  const { mask, plan: inForce } = turn.agent;
  // A change of the plan takes effect between steps, and the span is described later.
  const plan = inForce.digest();
  const inspect = () => ({ toolCatalog: step.catalog.items });
  const step: RunningStep = {
    stepId,
    stepIndex,
    plan,
    span: turn.observer?.chain(
      {
        kind: 'step',
        label: String(stepIndex),
        id: stepId,
        mask,
        spanIds,
        inspect,
        plan,
        ...(took.length > 0 && { took }),
      },
      turn.span,
    ),
    spanIds,
    catalog: new ToolCatalog(turn.agent.tools.items()),
    modelRef: inForce.modelRef,
    repliedBy: undefined,
    answeredBy: new Map(),
    changedBy: new Map(),
    finishReason: undefined,
    finishProblems: undefined,
    replyId: undefined,
    isFinished: false,
    isAnswered: false,
    toolStarted: false,
    survivors: [],
  };
  return step;
}

export async function runStep(turn: RunningTurn, step: RunningStep): Promise<StepResult> {
  const result = await runChain<StepResult>(turn, {
    kind: 'step',
    span: step.span,
    contextFor: (asking, next) => new StepContext(turn, step, asking, next),
    core: () => callModelAndTools(turn, step),
    read: readStepResult,
    // The failure is over: if the step fails later, it fails for another reason.
    recovered: () => void (step.survivors = []),
  });
  turn.conversation.removeEphemeral('step', step.stepId);
  return withFinishReason(result, step);
}

/**
 * Adds the reply's finish reason to the metadata, unless a layer set one. Other metadata set by a layer does not
 * prevent this.
 */
function withFinishReason(result: StepResult, { finishReason }: RunningStep): StepResult {
  if (finishReason === undefined || result.metadata['finishReason'] !== undefined) return result;
  return { ...result, metadata: { ...result.metadata, finishReason } };
}

async function callModelAndTools(turn: RunningTurn, step: RunningStep): Promise<StepResult> {
  step.catalog.check(turn.agent);
  const reply = await turn.conversation.show((messages) => askForReply(turn, step, messages));
  step.finishReason = reply.finishReason;
  turn.deltas.modelFinished(step, reply);
  const message = appendReply(turn, step, reply);
  // The reply is written to disk while the layers of its tool calls run, because one of these layers may wait for a
  // person.
  turn.log.flushSoon();

  const calls = reply.content.filter((part) => part.type === 'tool-call');
  // The reply already contains the results of calls that the provider ran itself.
  const parts = calls.filter((part) => part.providerExecuted !== true);
  const toolResults = await runToolCalls(turn, step, parts, message, cutPartOf(reply));
  toolResults.forEach((result, number) => appendToolResult(turn, step, result, number));
  turn.toolResults.push(...toolResults);
  takeFinish(turn, step, toolResults);
  const hasToolCalls = parts.length > 0 && !step.isFinished;
  step.isAnswered = !hasToolCalls;
  return {
    status: 'completed',
    hasToolCalls,
    toolCalls: parts.map(toToolCall),
    toolResults,
    metadata: { finishReason: reply.finishReason },
  };
}

async function askForReply(
  turn: RunningTurn,
  step: RunningStep,
  messages: readonly ModelMessage[],
): Promise<ModelReply> {
  const { stepIndex } = step;
  const { params, modelRef } = turn.agent.plan;
  const tools = new ToolCatalog(step.catalog.items);
  const key = replyKeyOf(stepIndex);
  const call = { key, step, messages, tools, params: { ...params }, modelRef, stepIndex, extension: undefined };
  const reply = await callModel(turn, call);
  step.modelRef = call.modelRef;
  return reply;
}

/** Returns the last part of a truncated reply, which may be incomplete. */
function cutPartOf({ content, finishReason }: ModelReply): ModelReply['content'][number] | undefined {
  return finishReason === 'length' ? content.at(-1) : undefined;
}
