/** The core of a turn: steps until a text answer, the limit, or a failure. */
import { GoondanError, type Message, type StepResult, type TokenUsage, type TurnResult } from '@goondan/types';
import { aboutThrown } from '../../log/about-thrown.ts';
import { sleep } from '../../ports/clock.ts';
import type { StepRecord } from '../conversation/conversation-store.ts';
import { removeEphemeral } from '../conversation/remove-ephemeral.ts';
import { toPlacedError } from '../pipeline/turn-error.ts';
import { maskStepResult } from '../secrets/mask-result.ts';
import { runStep, startStep } from '../step/run-step.ts';
import type { RunningStep } from '../turn-state/running-step.ts';
import { refuseWhenOver } from '../turn-state/refuse-when-over.ts';
import { recordedMetadata } from './recorded-metadata.ts';
import { planRetry } from './plan-retry.ts';
import { addUsage, type TurnRun } from '../turn-state/turn-run.ts';

export async function runSteps(run: TurnRun): Promise<TurnResult> {
  const { policy } = run.agent;
  const progress = progressOf(run);
  while (progress.needsStep) {
    refuseWhenOver(run);
    refuseTooManyTokens(run);
    if (run.stepCount >= policy.maxStepsPerTurn) return finish(run, 'max_steps', progress);
    const outcome = await tryStep(run, progress);
    progress.nextIndex++;
    if ('delayMs' in outcome) {
      progress.failures++;
      // A replay knows how the next try ended.
      if (run.replay === undefined) await sleep(run.clock, outcome.delayMs, run.signal);
      continue;
    }
    progress.failures = 0;
    progress.response = outcome.reply ?? progress.response;
    progress.truncated = isTruncated(outcome.result);
    progress.needsStep = outcome.result.hasToolCalls;
  }
  refuseWhenOver(run);
  return finish(run, 'text_response', progress);
}

interface Progress {
  nextIndex: number;
  /** Of the step that is being tried, in a row. */
  failures: number;
  needsStep: boolean;
  /** The newest thing the model said. */
  response: Message | undefined;
  /** The last step's reply ended at a limit of tokens. */
  truncated: boolean;
}

/** Where the turn stands: at its beginning, or after the steps an interrupted run had finished. */
function progressOf(run: TurnRun): Progress {
  const progress: Progress = { nextIndex: 0, failures: 0, needsStep: true, response: undefined, truncated: false };
  for (const record of run.before.steps) {
    progress.nextIndex = record.stepIndex + 1;
    if (record.usage !== undefined) addUsage(run.usage, record.usage);
    run.toolResults.push(...record.toolResults);
    if (record.result === undefined) {
      progress.failures++;
      continue;
    }
    progress.failures = 0;
    progress.needsStep = record.result.hasToolCalls;
    progress.truncated = isTruncated(record.result);
    run.stepCount++;
    if (record.responseMessageId !== undefined) {
      progress.response = run.conversation.newest(record.responseMessageId) ?? progress.response;
    }
  }
  return progress;
}

type StepOutcome = { readonly result: StepResult; readonly reply: Message | undefined } | { readonly delayMs: number };

/** Runs one step and records how it ended. A failure that may be retried is an outcome; any other is thrown. */
async function tryStep(run: TurnRun, progress: Progress): Promise<StepOutcome> {
  const { agent, turnId } = run;
  const mark = run.conversation.mark();
  const before = { usage: { ...run.usage }, resultCount: run.toolResults.length };
  const startedAt = agent.clock.elapsed();
  const step = startStep(run, progress.nextIndex);
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
    const result = await runStep(run, step);
    if (result.status === 'failed')
      throw new GoondanError('E_STEP_FAILED', `Step ${stepIndex} was ended by one of its layers.`);
    const reply = replyOf(run, step);
    const responseMessageId = reply === undefined ? {} : { responseMessageId: reply.id };
    seal(run, step, { outcome: 'completed', ...madeSince(before, run), result, ...responseMessageId });
    run.stepCount++;
    if (isTruncated(result)) warnOfTruncation(run, step);
    run.deltas.stepFinished({ stepId, stepIndex }, reply);
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('step.completed', () => ({ ...named(), toolCallCount: result.toolCalls.length, duration }));
    return { result, reply };
  } catch (error) {
    const retry = run.signal.aborted ? undefined : planRetry(error, progress.failures + 1, agent.policy);
    if (retry === undefined) run.deltas.brokenOff();
    // Also what went wrong after its chain had ended.
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
      removeEphemeral(run.conversation, 'step', stepId);
    } else {
      run.conversation.rollback(mark);
      run.toolResults.length = before.resultCount;
    }
    seal(run, step, { outcome: step.toolStarted ? 'kept' : 'dropped', ...madeSince(before, run) });
    run.deltas.discard({ stepId, stepIndex });
    return retry;
  }
}

type StepEnding = Pick<StepRecord, 'outcome' | 'result' | 'responseMessageId' | 'usage' | 'toolResults'>;

/** Once this is on disk the step is never run again. Nobody waits for that: until then its effects are recorded. */
function seal(run: TurnRun, step: RunningStep, ending: StepEnding): void {
  run.log.write({
    type: 'step',
    stepId: step.stepId,
    stepIndex: step.stepIndex,
    ...ending,
    ...(ending.result && { result: maskStepResult(ending.result, run.agent.mask) }),
    metadata: recordedMetadata(run),
    extensionState: run.agent.states.snapshot(),
  });
  run.log.flushSoon();
}

/** The step's reply as its layers left it: they may have replaced or removed it. */
function replyOf(run: TurnRun, step: RunningStep): Message | undefined {
  return step.replyId === undefined ? undefined : run.conversation.newest(step.replyId);
}

function madeSince(before: { usage: TokenUsage; resultCount: number }, { usage, toolResults }: TurnRun) {
  return { usage: usageSince(before.usage, usage), toolResults: toolResults.slice(before.resultCount) };
}

function usageSince(before: TokenUsage, now: TokenUsage): TokenUsage {
  const since = (count: keyof TokenUsage) => (now[count] ?? 0) - (before[count] ?? 0);
  return {
    inputTokens: since('inputTokens'),
    outputTokens: since('outputTokens'),
    totalTokens: since('totalTokens'),
    ...(now.cachedInputTokens === undefined ? {} : { cachedInputTokens: since('cachedInputTokens') }),
    ...(now.reasoningTokens === undefined ? {} : { reasoningTokens: since('reasoningTokens') }),
  };
}

/** As its layers left it. */
function isTruncated({ metadata }: StepResult): boolean {
  return metadata['finishReason'] === 'length';
}

function warnOfTruncation({ agent }: TurnRun, { stepIndex, modelRef }: RunningStep): void {
  const message = `The reply of ${modelRef} in step ${stepIndex} was cut off at its limit of tokens (params.maxTokens).`;
  agent.log('warn', message, { event: 'reply.truncated' });
}

function finish(
  run: TurnRun,
  finishReason: 'text_response' | 'max_steps',
  { response, truncated }: Progress,
): TurnResult {
  return {
    turnId: run.turnId,
    finishReason,
    ...(response === undefined ? {} : { responseMessage: response }),
    ...(truncated ? { truncated } : {}),
  };
}

function refuseTooManyTokens(run: TurnRun): void {
  const limit = run.agent.policy.maxTokensPerTurn;
  if (limit === undefined || run.usage.totalTokens < limit) return;
  throw new GoondanError('E_TURN_TOKENS', `The turn has used ${run.usage.totalTokens} tokens; the limit is ${limit}.`);
}
