/** One turn: one event in, one result out, the conversation committed once. */
import { type AgentEvent, createUserMessage, type TokenUsage, type TurnResult } from '@goondan/types';
import type { ChainSpan, TurnObserver } from '../../trace/layer-span.ts';
import type { AgentParts } from '../agent-parts.ts';
import { removeEphemeral } from '../conversation/remove-ephemeral.ts';
import { runOnion } from '../pipeline/onion.ts';
import { problemWithTurnResult } from '../pipeline/result-shapes.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { checkedMetadata } from './checked-metadata.ts';
import type { DeltaListener } from './delta-gate.ts';
import { openTurn } from './open-turn.ts';
import { stepIdOf } from '../step/run-step.ts';
import { runSteps } from './run-steps.ts';
import { TurnContext } from './turn-context.ts';
import { TurnDeadline } from './turn-deadline.ts';
import { type TurnRun, watch } from './turn-run.ts';

export interface TurnOptions {
  /** Cancels the turn. */
  readonly signal?: AbortSignal | undefined;
  /** Hears the answer while it is written. */
  readonly onDelta?: DeltaListener | undefined;
  /** Watches every layer. */
  readonly observer?: TurnObserver | undefined;
}

export interface TurnOutcome {
  readonly result: TurnResult;
  readonly stepCount: number;
  readonly usage: TokenUsage;
}

export async function runTurn(agent: AgentParts, event: AgentEvent, options: TurnOptions = {}): Promise<TurnOutcome> {
  const deadline = new TurnDeadline(agent.clock, agent.policy, options.signal);
  try {
    const run = await openTurn(agent, event, options, deadline.signal);
    if ('finished' in run) return run.finished;
    const result = await deadline.bound(runChain(run)).catch((error: unknown) => failed(run, error));
    const outcome = await commit(run, result);
    tellEnd(run, outcome);
    return outcome;
  } finally {
    deadline.over();
  }
}

async function runChain(run: TurnRun): Promise<TurnResult> {
  const { agent } = run;
  agent.bus.tell('turn.started', () => named(run));
  await appendInput(run);
  const span = watch(
    run,
    { kind: 'turn', label: run.agent.address.agentName, id: run.turnId, inspect: () => ({}) },
    undefined,
  );
  try {
    const result = await runOnion<TurnResult>({
      kind: 'turn',
      layers: agent.layers.of('turn'),
      contextFor: (asking, next) => new TurnContext(run, asking, next),
      core: () => enterSteps(run, span),
      problemWith: problemWithTurnResult,
      clock: agent.clock,
      warn: run.warn,
      span,
    });
    checkedMetadata(run.metadata);
    span?.end();
    return result;
  } catch (error) {
    span?.end(error);
    throw error;
  }
}

/** A resumed turn has its input already; an event without input appends nothing. */
async function appendInput(run: TurnRun): Promise<void> {
  if (run.before.inputId === undefined && run.event.input !== undefined) {
    const id = `${run.turnId}.input`;
    run.conversation.appendInput(createUserMessage(run.event.input, {}, { id, createdAt: run.event.createdAt }));
  }
  await run.log.flush();
}

/** Every turn layer has done its part before `next()`: what they did counts from here on, also after a crash. */
async function enterSteps(run: TurnRun, span: ChainSpan | undefined): Promise<TurnResult> {
  const { agent, before } = run;
  if (before.restorePoint === undefined) {
    const extensionState = agent.states.snapshot();
    run.log.write({ type: 'entered', metadata: checkedMetadata(run.metadata), extensionState });
  } else {
    run.metadata = structuredClone(before.restorePoint.metadata);
    agent.states.restore(before.restorePoint.extensionState);
  }
  run.muted = false;
  const result = await runSteps(run, span);
  run.phase = 'post';
  return result;
}

function failed(run: TurnRun, error: unknown): TurnResult {
  const turnError = toTurnError(error, 'E_EXT_MIDDLEWARE');
  const { mask } = run.agent;
  return {
    turnId: run.turnId,
    finishReason: 'error',
    error: { ...turnError, message: mask(turnError.message) },
  };
}

/** The turn's only commit. A failed turn keeps its messages and loses what it did to extension states. */
async function commit(run: TurnRun, result: TurnResult): Promise<TurnOutcome> {
  const { agent, conversation } = run;
  if (result.finishReason === 'error') agent.states.restore(run.stateAtStart);
  removeEphemeral(conversation, 'step', undefined);
  removeEphemeral(conversation, 'turn', undefined);
  const warm = conversation.end();
  await run.log.flush();
  await agent.store.commit(agent.address, run.epoch, run.turnId, conversation.delta(), agent.states.snapshot(), result);
  agent.warm = { version: run.version + 1, conversation: warm };
  return { result, stepCount: run.stepCount, usage: run.usage };
}

function tellEnd(run: TurnRun, { result, stepCount, usage }: TurnOutcome): void {
  const { agent } = run;
  const duration = agent.clock.elapsed() - run.startedAt;
  if (result.finishReason !== 'error') {
    const stepIndex = Math.max(0, stepCount - 1);
    run.deltas.turnFinished({ stepId: stepIdOf(run.turnId, stepIndex), stepIndex }, result.responseMessage);
    agent.bus.tell('turn.completed', () => ({ ...named(run), stepCount, duration, usage }));
    return;
  }
  const error = result.error ?? { message: 'A layer ended the turn with an error.' };
  agent.log('error', `Turn failed: ${error.message}`, {
    event: 'turn.failed',
    data: { code: error.code ?? null },
    ...(error.extension === undefined ? {} : { extension: error.extension }),
  });
  agent.bus.tell('turn.failed', () => ({ ...named(run), stepCount, duration, error }));
}

function named(run: TurnRun) {
  const { address, clock } = run.agent;
  return { turnId: run.turnId, ...address, timestamp: clock.now().toISOString() };
}
