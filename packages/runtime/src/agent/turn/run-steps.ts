/** The core of a turn: runs steps until a text answer, the step limit, or a failure. */
import { GoondanError, type Message, type StepResult, type TokenUsage, type TurnResult } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { aboutThrown } from '../../log/about-thrown.ts';
import { maskJson } from '../../log/mask-secrets.ts';
import { sleep } from '../../ports/clock.ts';
import { usageSince } from '../../ports/token-usage.ts';
import type { StepRecord } from '../conversation/conversation-store.ts';
import { toPlacedError } from '../pipeline/turn-error.ts';
import { runStep, startStep } from '../step/run-step.ts';
import { recordedMetadata } from './recorded-metadata.ts';
import { planRetry, type Retry } from './plan-retry.ts';
import { addUsage, refuseWhenOver, type RunningTurn, type RunningStep } from '../turn-state/running-turn.ts';

export async function runSteps(turn: RunningTurn): Promise<TurnResult> {
  const progress = progressOf(turn);
  while (progress.needsStep) {
    // A turn that was given up must not change the plan inside a step of the next turn.
    refuseWhenOver(turn);
    takeChange(turn);
    refuseTooManyTokens(turn);
    if (turn.stepCount >= turn.agent.plan.policy.maxStepsPerTurn) return finish(turn, 'max_steps', progress);
    const outcome = await tryStep(turn, progress);
    progress.nextIndex++;
    if ('delayMs' in outcome) {
      if (outcome.isFallback === true) progress.fallbacks++;
      else progress.failures++;
      // A replay does not wait, because its recording has the outcome of the retry.
      if (turn.replay === undefined) await sleep(turn.clock, outcome.delayMs, turn.signal);
      continue;
    }
    progress.failures = 0;
    progress.fallbacks = 0;
    progress.response = outcome.reply ?? progress.response;
    progress.truncated = isTruncated(outcome.result);
    progress.needsStep = outcome.result.hasToolCalls;
  }
  refuseWhenOver(turn);
  return finish(turn, 'text_response', progress);
}

/** Lets a waiting change of the plan take place. The next step runs with the new plan; the turn layers stay. */
function takeChange(turn: RunningTurn): void {
  const { agent } = turn;
  if (!agent.changeBetweenSteps()) return;
  turn.conversation.changeSystemPrompt(agent.plan.systemPrompt);
  turn.deltas.changed();
  turn.changeLimits(agent.plan.policy);
  turn.runtime = undefined;
}

interface Progress {
  nextIndex: number;
  /** The number of failures in a row of the current step. */
  failures: number;
  /** The number of fallbacks in a row of the current step. A resumed turn counts those before it as failures. */
  fallbacks: number;
  needsStep: boolean;
  /** The newest reply of the model. */
  response: Message | undefined;
  /** True if the reply of the last step was truncated. */
  truncated: boolean;
}

/** Returns the progress at the start: none, or the steps that an interrupted run had finished. */
function progressOf(turn: RunningTurn): Progress {
  const progress: Progress = {
    nextIndex: 0,
    failures: 0,
    fallbacks: 0,
    needsStep: true,
    response: undefined,
    truncated: false,
  };
  for (const record of turn.before.steps) {
    progress.nextIndex = record.stepIndex + 1;
    if (record.usage !== undefined) addUsage(turn, record.usage);
    turn.toolResults.push(...record.toolResults);
    if (record.result === undefined) {
      progress.failures++;
      continue;
    }
    progress.failures = 0;
    progress.needsStep = record.result.hasToolCalls;
    progress.truncated = isTruncated(record.result);
    turn.stepCount++;
    if (record.responseMessageId !== undefined) {
      progress.response = turn.conversation.newest(record.responseMessageId) ?? progress.response;
    }
  }
  return progress;
}

/**
 * Runs one step and records how it ended. Returns the delay if the step failed and will be retried. Throws every other
 * failure.
 */
async function tryStep(
  turn: RunningTurn,
  progress: Progress,
): Promise<{ readonly result: StepResult; readonly reply: Message | undefined } | Retry> {
  const { agent, turnId } = turn;
  const mark = turn.conversation.mark();
  const before = { usage: { ...turn.usage }, resultCount: turn.toolResults.length };
  const startedAt = agent.clock.elapsed();
  const step = startStep(turn, progress.nextIndex);
  const { stepId, stepIndex } = step;
  const named = () => ({
    stepId,
    stepIndex,
    turnId,
    agentName: agent.address.agentName,
    timestamp: agent.clock.now().toISOString(),
    ...step.spanIds.fields,
  });
  agent.bus.tell('step.started', named);
  try {
    const result = await runStep(turn, step);
    if (result.status === 'failed')
      throw new GoondanError('E_STEP_FAILED', `Step ${stepIndex} was ended by one of its layers.`);
    // The layers of the step may have replaced or removed its reply.
    const reply = step.replyId === undefined ? undefined : turn.conversation.newest(step.replyId);
    const responseMessageId = reply === undefined ? {} : { responseMessageId: reply.id };
    seal(turn, step, {
      outcome: 'completed',
      ...madeSince(before, turn),
      result: toRecord(turn, result),
      ...responseMessageId,
    });
    turn.stepCount++;
    if (isTruncated(result)) warnOfTruncation(turn, step);
    turn.deltas.stepFinished(step, reply);
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('step.completed', () => ({ ...named(), toolCallCount: result.toolCalls.length, duration }));
    return { result, reply };
  } catch (error) {
    const retry = turn.signal.aborted
      ? undefined
      : planRetry(error, progress.failures + 1, agent.plan.policy, progress.fallbacks);
    if (retry === undefined) turn.deltas.brokenOff();
    // Marks the span as failed, also when the step failed after its chain had ended.
    step.span?.fail(error, retry?.delayMs);
    const duration = agent.clock.elapsed() - startedAt;
    const failure = toPlacedError(error, 'E_EXT_MIDDLEWARE', agent);
    agent.bus.tell('step.failed', () => ({ ...named(), duration, error: failure, willRetry: retry !== undefined }));
    if (retry === undefined) throw error;
    agent.log('warn', `Step ${stepIndex} failed and is tried again in ${retry.delayMs} ms: ${failure.message}`, {
      event: 'step.retried',
      ...(failure.extension === undefined
        ? {}
        : { extension: failure.extension, ...aboutThrown(agent.locate(error), { code: failure.code ?? null }) }),
    });
    if (step.toolStarted) {
      turn.conversation.removeEphemeral('step', stepId);
      seal(turn, step, { outcome: 'kept', ...madeSince(before, turn) });
    } else {
      const survivors = turn.conversation.rollback(mark, step.survivors);
      turn.toolResults.length = before.resultCount;
      const staying = survivors.length === 0 ? {} : { survivors };
      seal(turn, step, { outcome: 'dropped', ...staying, ...madeSince(before, turn) });
    }
    turn.deltas.discard(step);
    return retry;
  }
}

/**
 * Writes the record that ends the step. Once the record is on disk, the step never runs again. The turn does not wait
 * for the disk, because the effects of the step are recorded anyway.
 */
function seal(
  turn: RunningTurn,
  step: RunningStep,
  ending: Omit<StepRecord, 'type' | 'stepId' | 'stepIndex' | 'metadata' | 'extensionState' | 'plan' | 'turnPlan'>,
): void {
  turn.log.write({
    type: 'step',
    stepId: step.stepId,
    stepIndex: step.stepIndex,
    ...ending,
    ...defined({ plan: step.plan, turnPlan: turn.plan === step.plan ? undefined : turn.plan }),
    metadata: recordedMetadata(turn.metadata, turn.agent.mask),
    extensionState: turn.agent.states.snapshot(),
  });
  turn.log.flushSoon();
}

/** Leaves out the calls and their results, which are written with their effects, messages and `toolResults`. */
function toRecord(
  { agent }: RunningTurn,
  { status, hasToolCalls, metadata }: StepResult,
): NonNullable<StepRecord['result']> {
  // Safe: masking an object returns an object.
  return { status, hasToolCalls, metadata: maskJson(metadata, agent.mask) as StepResult['metadata'] };
}

function madeSince(before: { usage: TokenUsage; resultCount: number }, { usage, toolResults }: RunningTurn) {
  return { usage: usageSince(before.usage, usage), toolResults: toolResults.slice(before.resultCount) };
}

/** Returns true if the reply was truncated, by the finish reason in the result that the layers returned. */
function isTruncated({ metadata }: Pick<StepResult, 'metadata'>): boolean {
  return metadata['finishReason'] === 'length';
}

function warnOfTruncation({ agent }: RunningTurn, { stepIndex, modelRef }: RunningStep): void {
  const message = `The reply of ${modelRef} in step ${stepIndex} reached its token limit (params.maxTokens) and is incomplete.`;
  agent.log('warn', message, { event: 'reply.truncated' });
}

function finish(
  { turnId }: RunningTurn,
  finishReason: 'text_response' | 'max_steps',
  { response, truncated }: Progress,
): TurnResult {
  return {
    turnId,
    finishReason,
    ...(response === undefined ? {} : { responseMessage: response }),
    ...(truncated ? { truncated } : {}),
  };
}

function refuseTooManyTokens({ agent, usage }: RunningTurn): void {
  const limit = agent.plan.policy.maxTokensPerTurn;
  if (limit === undefined || usage.totalTokens < limit) return;
  throw new GoondanError('E_TURN_TOKENS', `The turn has used ${usage.totalTokens} tokens; the limit is ${limit}.`);
}
