/** Runs one turn: one event in, one result out, one commit of the conversation. */
import {
  type AgentEvent,
  endingOf,
  GoondanError,
  type TurnError,
  type TurnDelta,
  type TurnResult,
} from '@goondan/types';
import { shortDigest } from '../../json/short-digest.ts';
import { defined } from '../../json/defined.ts';
import { aboutThrown } from '../../log/about-thrown.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import type { TurnObserver, WatchedTurn } from '../../trace/layer-span.ts';
import type { AgentParts } from '../turn-state/agent-parts.ts';
import type { OpenTurn } from '../conversation/conversation-store.ts';
import { toResumePoint } from '../conversation/resume-point.ts';
import { findAnswerProblems, outputError, readAnswer } from '../output/read-answer.ts';
import { readTurnResult } from '../pipeline/result-shapes.ts';
import type { TurnReplay } from '../turn-state/turn-replay.ts';
import { maskMessage } from '../secrets/mask-message.ts';
import { toPlacedError, toTurnError } from '../pipeline/turn-error.ts';
import { recordedMetadata } from './recorded-metadata.ts';
import { inputMessage, originOf } from './input-message.ts';
import { openTurn } from './open-turn.ts';
import { stepIdOf } from '../step/run-step.ts';
import { runChain } from '../pipeline/run-chain.ts';
import { runSteps } from './run-steps.ts';
import { TurnClock } from '../turn-state/turn-clock.ts';
import { TurnContext } from '../step/powerful-context.ts';
import { TurnDeadline } from './turn-deadline.ts';
import { refuseWhenOver, type RunningTurn } from '../turn-state/running-turn.ts';
import type { WaitingInputs } from '../turn-state/waiting-inputs.ts';

export interface TurnOptions {
  /** Aborting this signal cancels the turn. */
  readonly signal?: AbortSignal | undefined;
  /** True if the event was cancelled before its turn began; if absent, that is known from the signal. */
  readonly isCancelled?: boolean | undefined;
  /** A clock that is paused while the turn, or an agent it called, waits for a person. */
  readonly clock?: TurnClock | undefined;
  /** Called with each piece of the reply while it is written. */
  readonly onDelta?: ((delta: TurnDelta) => void) | undefined;
  /** Watches every layer. */
  readonly observer?: TurnObserver | undefined;
  /** Returns recorded effects of this turn, so that nothing reaches the outside. */
  readonly replay?: TurnReplay | undefined;
  /**
   * If true, the event crashed its process too often: its input is added to the conversation, but no layer or step
   * runs.
   */
  readonly deadLetter?: boolean | undefined;
  /** The code that blocked the last process of the event, in words. */
  readonly blocked?: string | undefined;
  /** The number of nodes that the turn of a dead letter ended, if that is why it is one. */
  readonly takeOvers?: number | undefined;
  /**
   * If true, the event did not cause the interruption of the last run, so the interruption does not count as a crash.
   */
  readonly isExcused?: boolean | undefined;
  /** The number of the event in the inbox; absent when the event did not come through an inbox. */
  readonly seq?: number | undefined;
  /** The inputs that wait for the turn, which may be added while it runs. None when absent. */
  readonly waiting?: WaitingInputs | undefined;
}

export async function runTurn(agent: AgentParts, event: AgentEvent, options: TurnOptions = {}): Promise<TurnOutcome> {
  const { isCancelled = options.signal?.aborted === true } = options;
  const clock = options.clock ?? new TurnClock(agent.clock);
  const deadline = new TurnDeadline({ turn: clock, world: agent.clock }, agent.plan.policy, options.signal);
  try {
    await agent.saveStates.beginTurn();
    const { signal, onAbort } = deadline;
    const changeLimits = (to: TurnPolicy) => deadline.change(to);
    const opened = await openTurn(agent, event, options, { clock, signal, onAbort, changeLimits });
    if ('finished' in opened) return opened.finished;
    const { turn, base } = opened;
    const startedAt = agent.clock.elapsed();
    agent.activity.begin(turn.log);
    turn.observer?.started?.(watched(turn));
    tellWhenCancelled(turn, deadline);
    const result = await deadline
      .bound(answer(turn, options, isCancelled))
      .catch((error: unknown) => failed(turn, error));
    const outcome = await commit(turn, base, result);
    turn.observer?.ended?.({ ...outcome, took: turn.waiting.taken, thrown: turn.thrown });
    tellEnd(turn, outcome, agent.clock.elapsed() - startedAt);
    return outcome;
  } finally {
    deadline.over();
    agent.activity.end();
    agent.saveStates.endTurn();
  }
}

function tellWhenCancelled({ observer, signal }: RunningTurn, deadline: TurnDeadline): void {
  if (observer?.cancelled === undefined) return;
  // Safe: `TurnDeadline` makes the reason an error.
  if (signal.aborted) observer.cancelled(signal.reason as Error);
  else deadline.onFirstAbort = (reason) => observer.cancelled?.(reason);
}

async function answer(turn: RunningTurn, options: TurnOptions, isCancelled: boolean): Promise<TurnResult> {
  const { agent } = turn;
  agent.bus.tell('turn.started', () => named(turn));
  // An input that was cancelled before its turn began is not part of the conversation.
  if (isCancelled) refuseWhenOver(turn);
  await appendInput(turn);
  refuseDeadLetter(turn, options);
  tellOtherPlan(turn);
  refuseWhenOver(turn);
  const { spanIds, turnId } = turn;
  const about = { label: agent.address.agentName, id: turnId, mask: agent.mask, spanIds, plan: turn.plan };
  const span = turn.observer?.chain({ kind: 'turn', ...about }, undefined);
  turn.span = span;
  const result = await runChain<TurnResult>(turn, {
    kind: 'turn',
    span,
    contextFor: (asking, next) => new TurnContext(turn, undefined, asking, next),
    core: () => enterSteps(turn),
    read: readTurnResult,
    // A layer that answers in place of the steps ends the part before them, too.
    answered: () => void (turn.phase = 'post'),
  });
  // Called only for its check: throws if a layer has set metadata that is not JSON since the last step.
  recordedMetadata(turn.metadata, agent.mask);
  return withOutput(turn, withoutSecrets(withoutBytes(result, agent), agent.mask));
}

/** Replaces bytes in the message of a result, because a layer may return a message of its own. */
function withoutBytes(result: TurnResult, { files }: AgentParts): TurnResult {
  const { responseMessage } = result;
  return responseMessage === undefined ? result : { ...result, responseMessage: files.takeMessage(responseMessage) };
}

/** Appends the input. A resumed turn already has it; an event without input appends nothing. */
async function appendInput(turn: RunningTurn): Promise<void> {
  const message = inputMessage(turn.event);
  if (turn.before.inputId === undefined && message !== undefined) {
    turn.conversation.appendInput(message, originOf(turn.event));
  }
  await turn.log.flush();
}

/** Logs that the layers of a resumed turn are repeated with other code than at the start of the turn. */
function tellOtherPlan({ agent, before, plan }: RunningTurn): void {
  if (before.plan === undefined || plan === undefined || before.plan === plan) return;
  const [first, now] = [before.plan, plan].map(shortDigest);
  agent.log('warn', `The turn began with plan ${first} and goes on with plan ${now}: its turn layers run again.`, {
    event: 'turn.plan_changed',
    data: { before: before.plan, after: plan },
  });
}

/**
 * Throws for a dead letter. Its input was already added to the conversation, so the input is not lost, but no turn runs
 * for it again.
 */
function refuseDeadLetter(
  { agent, replay, before, resumed }: RunningTurn,
  { deadLetter = false, blocked, takeOvers, isExcused = false }: TurnOptions,
): void {
  // A replayed turn did run, so its event was not a dead letter.
  if (replay !== undefined) return;
  const crashes = before.resumes + (resumed && !isExcused ? 1 : 0);
  if (crashes < agent.plan.policy.crashesBeforeDeadLetter && !deadLetter) return;
  // The orchestrator counts crashes too, including those that left nothing in the log.
  const times = deadLetter ? 'too often' : `${crashes} times`;
  const did = takeOvers === undefined ? `crashed its agent ${times}` : `ended its node ${takeOvers} times`;
  const where = blocked === undefined ? '' : `: its process was ${blocked}`;
  throw new GoondanError('E_DEAD_LETTER', `This event ${did} and became a dead letter${where}.`);
}

/**
 * Runs the steps. All turn layers have now run up to their `next()`, so the events that they emitted count, also after
 * a crash.
 */
async function enterSteps(turn: RunningTurn): Promise<TurnResult> {
  const { agent, before } = turn;
  // A layer that hung may call `next()` after its turn was given up.
  refuseWhenOver(turn);
  if (before.restorePoint === undefined) {
    const extensionState = agent.states.snapshot();
    const metadata = recordedMetadata(turn.metadata, agent.mask);
    turn.log.write({ type: 'entered', metadata, extensionState, ...defined({ plan: turn.plan }) });
  } else {
    restoreMetadata(turn, before.restorePoint.metadata);
    agent.states.restore(before.restorePoint.extensionState);
  }
  turn.muted = false;
  try {
    return await runSteps(turn);
  } finally {
    turn.phase = 'post';
  }
}

/**
 * Restores the metadata in place, because layers may hold a reference to the object, which is the same for the whole
 * turn.
 */
function restoreMetadata(turn: RunningTurn, metadata: Readonly<RunningTurn['metadata']>): void {
  if (Object.isFrozen(turn.metadata)) turn.metadata = {};
  for (const key of Object.keys(turn.metadata)) delete turn.metadata[key];
  Object.assign(turn.metadata, structuredClone(metadata));
}

/** Masks secrets in a result, because a layer may return a message or an error of its own. */
function withoutSecrets(result: TurnResult, mask: Mask): TurnResult {
  const { responseMessage, error } = result;
  return {
    ...result,
    ...(responseMessage && { responseMessage: maskMessage(responseMessage, mask) }),
    ...(error && { error: maskTurnError(error, mask) }),
  };
}

/**
 * Sets the output of a turn that demands a schema. The message is what the last layer returned, so its text is checked
 * here once more. **Errors** — `E_OUTPUT_SCHEMA`.
 */
function withOutput({ demand }: RunningTurn, { output: _ofLayers, ...result }: TurnResult): TurnResult {
  if (demand === undefined || result.finishReason !== 'text_response') return result;
  const problems = findAnswerProblems(demand, result.responseMessage, result.truncated === true);
  if (problems.length > 0) throw outputError(problems);
  const read = readAnswer(result.responseMessage);
  return 'value' in read ? { ...result, output: read.value } : result;
}

/** Converts an error that a layer returned to the form of a thrown error. */
function maskTurnError(error: TurnError, mask: Mask): TurnError {
  const { extension } = error;
  return { ...toTurnError(error, undefined, mask), ...(extension === undefined ? {} : { extension }) };
}

function failed(turn: RunningTurn, error: unknown): TurnResult {
  const { turnId, agent } = turn;
  // If a layer hangs, its step never ends, so the held-back text is sent here.
  turn.deltas.brokenOff();
  turn.thrown = error;
  return { turnId, finishReason: 'error', error: toPlacedError(error, 'E_EXT_MIDDLEWARE', agent) };
}

/** Commits the turn, once. A failed turn keeps its messages and its changes of extension states. */
async function commit(turn: RunningTurn, base: OpenTurn, result: TurnResult): Promise<TurnOutcome> {
  const { agent, conversation } = turn;
  // A resumed turn that ended before its steps takes its states and its messages from the log.
  if (turn.muted && turn.before.restorePoint) agent.states.restore(turn.before.restorePoint.extensionState);
  conversation.removeEphemeral('step', undefined);
  conversation.removeEphemeral('turn', undefined);
  // From now on every message event of a layer is rejected, even one that would have been muted.
  turn.muted = false;
  const view = conversation.end();
  if (turn.lateUsages.length > 0) await Promise.all(turn.lateUsages);
  turn.isCounted = true;
  await save(turn, base, result);
  agent.states.version += 1;
  agent.warm = { version: base.version + 1, view };
  return { result, stepCount: turn.stepCount, ...turn.used };
}

/**
 * Commits the turn to the store. If that fails, nothing of the turn is kept, and the next turn starts from the last
 * commit.
 */
async function save(
  { agent, log, conversation, turnId }: RunningTurn,
  { epoch, extensionState }: OpenTurn,
  result: TurnResult,
): Promise<void> {
  try {
    const rest = await log.takeRest();
    const states = agent.states.snapshot();
    await agent.files.settle();
    await agent.store.commit(agent.address, epoch, turnId, conversation.delta(), states, result, rest);
    agent.states.saved(states);
    void agent.files.committed();
  } catch (error) {
    agent.states.restore(extensionState);
    throw error;
  }
}

function tellEnd(turn: RunningTurn, { result, stepCount, usage, called }: TurnOutcome, duration: number): void {
  const { agent } = turn;
  if (result.finishReason !== 'error') {
    const stepIndex = Math.max(0, stepCount - 1);
    turn.deltas.turnFinished({ stepId: stepIdOf(turn.turnId, stepIndex), stepIndex }, result.responseMessage);
    const truncated = result.truncated === true ? { truncated: true } : {};
    agent.bus.tell('turn.completed', () => ({
      ...named(turn),
      stepCount,
      duration,
      usage,
      ...defined({ called }),
      ...truncated,
    }));
    return;
  }
  const error = result.error ?? { message: 'A layer ended the turn with an error.' };
  const ending = endingOf(result);
  agent.log(ending === 'cancelled' ? 'info' : 'error', `Turn ${ending}: ${error.message}`, {
    event: 'turn.failed',
    ...aboutThrown(error.extension === undefined ? {} : agent.locate(turn.thrown), { code: error.code ?? null }),
    ...(error.extension === undefined ? {} : { extension: error.extension }),
  });
  agent.bus.tell('turn.failed', () => ({ ...named(turn), stepCount, duration, usage, ...defined({ called }), error }));
}

function watched({ agent, turnId, event, spanIds, shown, resumed, before }: RunningTurn): WatchedTurn {
  const { mask, locate } = agent;
  const about = { ...agent.address, turnId, event, spanIds, startedAt: shown.startedAt, mask, locate, resumed };
  return resumed ? { ...about, resumePoint: () => toResumePoint(before) } : about;
}

function named({ agent: { address, clock }, turnId, spanIds }: RunningTurn) {
  return { turnId, ...address, timestamp: clock.now().toISOString(), ...spanIds.fields };
}
