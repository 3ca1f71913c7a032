/** The core of a turn: steps until a text answer, the limit, or a failure. */
import { GoondanError, type Message, type StepResult, type TokenUsage, type TurnResult } from '@goondan/types';
import { sleep } from '../../ports/clock.ts';
import type { ChainSpan } from '../../trace/layer-span.ts';
import { followReplace } from '../conversation/fold.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { runStep, startStep } from '../step/run-step.ts';
import type { RunningStep } from '../step/running-step.ts';
import { refuseWhenOver } from './refuse-when-over.ts';
import { checkedMetadata } from './checked-metadata.ts';
import { planRetry } from './plan-retry.ts';
import { addUsage, type TurnRun } from './turn-run.ts';

export async function runSteps(run: TurnRun, parent: ChainSpan | undefined): Promise<TurnResult> {
  const { policy } = run.agent;
  const progress = progressOf(run);
  while (progress.needsStep) {
    refuseWhenOver(run);
    refuseTooManyTokens(run);
    if (run.stepCount >= policy.maxStepsPerTurn) return finish(run, 'max_steps', progress.response);
    const outcome = await tryStep(run, progress, parent);
    progress.nextIndex++;
    if ('delayMs' in outcome) {
      progress.failures++;
      await sleep(run.agent.clock, outcome.delayMs, run.signal);
      continue;
    }
    progress.failures = 0;
    progress.response = outcome.reply ?? progress.response;
    progress.needsStep = outcome.result.hasToolCalls;
  }
  refuseWhenOver(run);
  return finish(run, 'text_response', progress.response);
}

interface Progress {
  nextIndex: number;
  /** Of the step that is being tried, in a row. */
  failures: number;
  needsStep: boolean;
  /** The newest thing the model said. */
  response: Message | undefined;
}

/** Where the turn stands: at its beginning, or after the steps an interrupted run had finished. */
function progressOf(run: TurnRun): Progress {
  const progress: Progress = { nextIndex: 0, failures: 0, needsStep: true, response: undefined };
  for (const record of run.before.steps) {
    progress.nextIndex = record.stepIndex + 1;
    if (record.usage !== undefined) addUsage(run.usage, record.usage);
    if (record.result === undefined) {
      progress.failures++;
      continue;
    }
    progress.failures = 0;
    progress.needsStep = record.result.hasToolCalls;
    run.stepCount++;
    run.toolResults.push(...record.result.toolResults);
    if (record.responseMessageId !== undefined) {
      progress.response = run.conversation.get(record.responseMessageId) ?? progress.response;
    }
  }
  return progress;
}

type StepOutcome = { readonly result: StepResult; readonly reply: Message | undefined } | { readonly delayMs: number };

/** Runs one step and records how it ended. A failure that may be retried is an outcome; any other is thrown. */
async function tryStep(run: TurnRun, progress: Progress, parent: ChainSpan | undefined): Promise<StepOutcome> {
  const { agent, turnId } = run;
  const mark = run.conversation.mark();
  const usageBefore = { ...run.usage };
  const startedAt = agent.clock.elapsed();
  const step = startStep(run, progress.nextIndex, parent);
  const { stepId, stepIndex } = step;
  const named = () => ({
    stepId,
    stepIndex,
    turnId,
    agentName: agent.address.agentName,
    timestamp: agent.clock.now().toISOString(),
  });
  agent.bus.tell('step.started', named);
  try {
    const result = await runStep(run, step);
    if (result.status === 'failed')
      throw new GoondanError('E_STEP_FAILED', `Step ${stepIndex} was ended by one of its layers.`);
    const reply = replyOf(run, step);
    await seal(run, step, 'completed', usageSince(usageBefore, run.usage), result, reply?.id);
    run.stepCount++;
    run.deltas.stepFinished({ stepId, stepIndex }, reply);
    step.span?.end();
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('step.completed', () => ({ ...named(), toolCallCount: result.toolCalls.length, duration }));
    return { result, reply };
  } catch (error) {
    step.span?.end(error);
    const retry = run.signal.aborted ? undefined : planRetry(error, progress.failures + 1, agent.policy);
    const duration = agent.clock.elapsed() - startedAt;
    const failure = toTurnError(error, 'E_EXT_MIDDLEWARE');
    agent.bus.tell('step.failed', () => ({ ...named(), duration, error: failure, willRetry: retry !== undefined }));
    if (retry === undefined) throw error;
    agent.log('warn', `Step ${stepIndex} failed and is tried again in ${retry.delayMs} ms: ${failure.message}`, {
      event: 'step.retried',
    });
    if (!step.toolStarted) run.conversation.rollback(mark);
    await seal(run, step, step.toolStarted ? 'kept' : 'dropped', usageSince(usageBefore, run.usage));
    run.deltas.discard({ stepId, stepIndex });
    return retry;
  }
}

/** From here on the step is never run again, whatever happens to the process. */
async function seal(
  run: TurnRun,
  step: RunningStep,
  outcome: 'completed' | 'dropped' | 'kept',
  usage: TokenUsage,
  result?: StepResult,
  responseMessageId?: string,
): Promise<void> {
  run.log.write({
    type: 'step',
    stepId: step.stepId,
    stepIndex: step.stepIndex,
    outcome,
    usage,
    ...(result === undefined ? {} : { result }),
    ...(responseMessageId === undefined ? {} : { responseMessageId }),
    metadata: checkedMetadata(run.metadata),
    extensionState: run.agent.states.snapshot(),
  });
  await run.log.flush();
}

/** The step's reply as its layers left it: they may have replaced or removed it. */
function replyOf(run: TurnRun, step: RunningStep): Message | undefined {
  if (step.replyId === undefined) return undefined;
  const id = run.conversation.state.events.reduce(followReplace, step.replyId);
  return run.conversation.get(id ?? '');
}

function usageSince(before: TokenUsage, now: TokenUsage): TokenUsage {
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    totalTokens: now.totalTokens - before.totalTokens,
  };
}

function finish(run: TurnRun, finishReason: 'text_response' | 'max_steps', response: Message | undefined): TurnResult {
  return { turnId: run.turnId, finishReason, ...(response === undefined ? {} : { responseMessage: response }) };
}

function refuseTooManyTokens(run: TurnRun): void {
  const limit = run.agent.policy.maxTokensPerTurn;
  if (limit === undefined || run.usage.totalTokens < limit) return;
  throw new GoondanError('E_TURN_TOKENS', `The turn has used ${run.usage.totalTokens} tokens; the limit is ${limit}.`);
}
