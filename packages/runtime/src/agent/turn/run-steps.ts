/**
 * The core of a turn: runs steps until a text answer, the step limit, or a failure. If the turn demands a schema, the
 * answer must fit it; a wrong answer goes back to the model, in another step. If an input waits for the turn when a step has
 * ended, another step follows, also after an answer.
 */
import { type AgentEvent, GoondanError, type Message, type StepResult, type TurnResult } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { aboutThrown } from '../../log/about-thrown.ts';
import { maskJson } from '../../log/mask-secrets.ts';
import { sleep } from '../../ports/clock.ts';
import type { StepRecord } from '../conversation/conversation-store.ts';
import { correctionFor, findAnswerProblems, outputError, readAnswer } from '../output/read-answer.ts';
import { toPlacedError } from '../pipeline/turn-error.ts';
import { replyKeyOf, runStep, startStep } from '../step/run-step.ts';
import { appendCorrection } from '../step/step-messages.ts';
import { recordedMetadata } from './recorded-metadata.ts';
import { planRetry, type Retry } from './plan-retry.ts';
import { findInputs, takeInputs } from './take-inputs.ts';
import { refuseWhenOver, type RunningTurn, type RunningStep } from '../turn-state/running-turn.ts';

export async function runSteps(turn: RunningTurn): Promise<TurnResult> {
  const progress = progressOf(turn);
  for (;;) {
    // A turn that was given up must not change the plan inside a step of the next turn.
    refuseWhenOver(turn);
    refuseWrongAnswer(turn, progress);
    // A step that is tried again may have left a tool call without its result.
    const isTriedAgain = progress.failures + progress.fallbacks > 0;
    const inputs = isTriedAgain ? [] : findInputs(turn, progress.nextIndex);
    // An input needs a step until one has completed, also when that step is tried again.
    if (inputs.length > 0) progress.needsStep = true;
    if (!progress.needsStep) return finish(turn, 'text_response', progress);
    takeChange(turn);
    takeInputs(turn, inputs, progress.nextIndex);
    progress.took = inputs.map(({ event }) => event);
    refuseTooManyTokens(turn, progress);
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
    progress.needsStep = outcome.result.hasToolCalls || outcome.problems !== undefined;
    noteProblems(progress, outcome.problems);
  }
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
  /** The number of answers that do not fit the demanded schema, since the last one that does. */
  wrongAnswers: number;
  /** The problems of the newest one. */
  problems: readonly string[];
  /** The events whose inputs the turn took before the next step. */
  took: readonly AgentEvent[];
}

/** Counts a wrong answer. If an input follows an answer that fits, its answers have all retries. */
function noteProblems(progress: Progress, problems: readonly string[] | undefined): void {
  if (problems === undefined && !progress.needsStep) progress.wrongAnswers = 0;
  if (problems === undefined) return;
  progress.wrongAnswers++;
  progress.problems = problems;
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
    wrongAnswers: 0,
    problems: [],
    took: [],
  };
  let completed = -1;
  for (const record of turn.before.steps) {
    progress.nextIndex = record.stepIndex + 1;
    turn.toolResults.push(...record.toolResults);
    if (record.result === undefined) {
      progress.failures++;
      continue;
    }
    progress.failures = 0;
    completed = record.stepIndex;
    progress.needsStep = record.result.hasToolCalls || record.problems !== undefined;
    noteProblems(progress, record.problems);
    progress.truncated = isTruncated(record.result);
    turn.stepCount++;
    if (record.responseMessageId !== undefined) {
      progress.response = turn.conversation.newest(record.responseMessageId) ?? progress.response;
    }
  }
  if (turn.before.taken.some(({ beforeStep }) => beforeStep > completed)) progress.needsStep = true;
  return progress;
}

interface EndedStep {
  readonly result: StepResult;
  readonly reply: Message | undefined;
  /** Present when the step has a wrong answer. */
  readonly problems: readonly string[] | undefined;
}

/**
 * Runs one step and records how it ended. Returns the delay if the step failed and will be retried. Throws every other
 * failure.
 */
async function tryStep(turn: RunningTurn, progress: Progress): Promise<EndedStep | Retry> {
  const { agent, turnId } = turn;
  const mark = turn.conversation.mark();
  const resultCount = turn.toolResults.length;
  const startedAt = agent.clock.elapsed();
  const step = startStep(turn, progress.nextIndex, progress.took);
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
    const problems = judgeAnswer(turn, step, result, reply);
    if (problems !== undefined) sendBack(turn, step, { result, problems, wrongBefore: progress.wrongAnswers });
    seal(turn, step, {
      outcome: 'completed',
      toolResults: turn.toolResults.slice(resultCount),
      result: toRecord(turn, result),
      ...responseMessageId,
      ...defined({ problems }),
    });
    turn.stepCount++;
    if (isTruncated(result)) warnOfTruncation(turn, step);
    const isWrongAnswer = problems !== undefined && !result.hasToolCalls;
    if (!isWrongAnswer) turn.deltas.stepFinished(step, reply);
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('step.completed', () => ({ ...named(), toolCallCount: result.toolCalls.length, duration }));
    return { result, reply, problems };
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
    const when = retry.delayMs === 0 ? 'at once' : `in ${retry.delayMs} ms`;
    agent.log('warn', `Step ${stepIndex} failed and is tried again ${when}: ${failure.message}`, {
      event: 'step.retried',
      ...(failure.extension === undefined
        ? {}
        : { extension: failure.extension, ...aboutThrown(agent.locate(error), { code: failure.code ?? null }) }),
    });
    if (step.toolStarted) {
      turn.conversation.removeEphemeral('step', stepId);
      seal(turn, step, { outcome: 'kept', toolResults: turn.toolResults.slice(resultCount) });
    } else {
      const survivors = turn.conversation.rollback(mark, step.survivors);
      turn.toolResults.length = resultCount;
      const staying = survivors.length === 0 ? {} : { survivors };
      seal(turn, step, { outcome: 'dropped', ...staying, toolResults: [] });
    }
    turn.deltas.discard(step);
    return retry;
  }
}

/** Returns the problems of the step's answer; undefined when the step has no answer, or its answer fits. */
function judgeAnswer(
  { demand }: RunningTurn,
  { finishProblems }: RunningStep,
  result: StepResult,
  reply: Message | undefined,
): readonly string[] | undefined {
  if (demand === undefined) return undefined;
  if (result.hasToolCalls) return finishProblems;
  const problems = findAnswerProblems(demand, reply, isTruncated(result));
  return problems.length === 0 ? undefined : problems;
}

/** Sends a wrong answer back to the model, unless it has no retry left. A wrong call already has its result. */
function sendBack(
  turn: RunningTurn,
  step: RunningStep,
  wrong: { readonly result: StepResult; readonly problems: readonly string[]; readonly wrongBefore: number },
): void {
  const { result, problems, wrongBefore } = wrong;
  const retries = turn.demand?.retries ?? 0;
  const isLast = wrongBefore >= retries;
  const next = isLast ? 'no retry is left' : `retry ${wrongBefore + 1} of ${retries}`;
  const message = `The answer of step ${step.stepIndex} does not fit the demanded schema (${next}): ${problems.join('; ')}.`;
  turn.agent.log('warn', message, { event: 'answer.refused' });
  if (!isLast && !result.hasToolCalls) appendCorrection(turn, step, correctionFor(problems));
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

/** Returns true if the reply was truncated, by the finish reason in the result that the layers returned. */
function isTruncated({ metadata }: Pick<StepResult, 'metadata'>): boolean {
  return metadata['finishReason'] === 'length';
}

function warnOfTruncation({ agent }: RunningTurn, { stepIndex, modelRef }: RunningStep): void {
  const message = `The reply of ${modelRef} in step ${stepIndex} reached its token limit (params.maxTokens) and is incomplete.`;
  agent.log('warn', message, { event: 'reply.truncated' });
}

function finish(
  { turnId, demand }: RunningTurn,
  finishReason: 'text_response' | 'max_steps',
  { response, truncated }: Progress,
): TurnResult {
  return {
    turnId,
    finishReason,
    ...(response === undefined ? {} : { responseMessage: response }),
    ...(truncated ? { truncated } : {}),
    ...(demand !== undefined && finishReason === 'text_response' ? outputOf(response) : {}),
  };
}

/** Returns the answer, for layers of the turn. It was checked when its step ended. */
function outputOf(response: Message | undefined): Pick<TurnResult, 'output'> {
  const read = readAnswer(response);
  return 'value' in read ? { output: read.value } : {};
}

function refuseWrongAnswer({ demand }: RunningTurn, { wrongAnswers, problems }: Progress): void {
  if (demand !== undefined && wrongAnswers > demand.retries) throw outputError(problems);
}

function refuseTooManyTokens({ agent, effects, used: { usage, called } }: RunningTurn, { nextIndex }: Progress): void {
  const limit = agent.plan.policy.maxTokensPerTurn;
  if (limit === undefined || usage.totalTokens < limit) return;
  // An interrupted run had begun this step within the limit, and the reply of its model is paid for.
  if (effects.isRecorded(replyKeyOf(nextIndex))) return;
  const others = called === undefined ? '' : `, ${called.totalTokens} of them by agents that it called`;
  const message = `The turn has used ${usage.totalTokens} tokens${others}; the limit is ${limit}.`;
  throw new GoondanError('E_TURN_TOKENS', message);
}
