/** One turn: one event in, one result out, the conversation committed once. */
import {
  type AgentEvent,
  createUserMessage,
  endingOf,
  GoondanError,
  type TurnError,
  type TurnResult,
} from '@goondan/types';
import { aboutThrown } from '../../log/about-thrown.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import type { TurnObserver, WatchedTurn } from '../../trace/layer-span.ts';
import type { AgentParts } from '../turn-state/agent-parts.ts';
import type { InputOrigin, OpenTurn } from '../conversation/conversation-store.ts';
import { toResumePoint } from '../conversation/resume-point.ts';
import { problemWithTurnResult } from '../pipeline/result-shapes.ts';
import type { TurnReplay } from '../turn-state/turn-replay.ts';
import { maskMessage } from '../secrets/mask-message.ts';
import { toPlacedError, toTurnError } from '../pipeline/turn-error.ts';
import { recordedMetadata } from './recorded-metadata.ts';
import type { DeltaListener } from '../turn-state/delta-gate.ts';
import { openTurn } from './open-turn.ts';
import { stepIdOf } from '../step/run-step.ts';
import { runChain } from '../pipeline/run-chain.ts';
import { runSteps } from './run-steps.ts';
import { TurnClock } from '../turn-state/turn-clock.ts';
import { TurnContext } from './turn-context.ts';
import { TurnDeadline } from './turn-deadline.ts';
import {
  refuseWhenOver,
  type RunningTurn,
  type TurnBounds,
  type TurnIdentity,
  type TurnWriting,
  watch,
} from '../turn-state/running-turn.ts';

export interface TurnOptions {
  /** Cancels the turn. */
  readonly signal?: AbortSignal | undefined;
  /** Stopped by whoever knows that the turn, or what it asked for, waits for a person. */
  readonly clock?: TurnClock | undefined;
  /** Hears the answer while it is written. */
  readonly onDelta?: DeltaListener | undefined;
  /** Watches every layer. */
  readonly observer?: TurnObserver | undefined;
  /** Serves what was recorded of this turn: nothing of it reaches the outside. */
  readonly replay?: TurnReplay | undefined;
  /** The event killed its process too often: its input is folded, and nothing of it is run. */
  readonly deadLetter?: boolean | undefined;
  /** The store interrupted it last: that is no crash of the event. */
  readonly isExcused?: boolean | undefined;
}

export async function runTurn(agent: AgentParts, event: AgentEvent, options: TurnOptions = {}): Promise<TurnOutcome> {
  const clock = options.clock ?? new TurnClock(agent.clock);
  const deadline = new TurnDeadline({ turn: clock, world: agent.clock }, agent.policy, options.signal);
  try {
    await agent.saveStates.beginTurn();
    const opened = await openTurn(agent, event, options, { clock, signal: deadline.signal });
    if ('finished' in opened) return opened.finished;
    const { turn, base } = opened;
    const startedAt = agent.clock.elapsed();
    agent.activity.begin(turn.log);
    turn.observer?.started?.(watched(turn));
    tellWhenCancelled(turn, deadline);
    const result = await deadline.bound(answer(turn, options)).catch((error: unknown) => failed(turn, error));
    const outcome = await commit(turn, base, result);
    turn.observer?.ended?.({ ...outcome, thrown: turn.thrown });
    tellEnd(turn, outcome, agent.clock.elapsed() - startedAt);
    return outcome;
  } finally {
    deadline.over();
    agent.activity.end();
    agent.saveStates.endTurn();
  }
}

function tellWhenCancelled({ observer, signal }: TurnIdentity & TurnBounds, deadline: TurnDeadline): void {
  if (observer?.cancelled === undefined) return;
  // Its reason is an error: `TurnDeadline` makes it one.
  if (signal.aborted) observer.cancelled(signal.reason as Error);
  else deadline.onAbort = (reason) => observer.cancelled?.(reason);
}

async function answer(turn: RunningTurn, { deadLetter = false, isExcused = false }: TurnOptions): Promise<TurnResult> {
  const { agent } = turn;
  agent.bus.tell('turn.started', () => named(turn));
  await appendInput(turn);
  refuseDeadLetter(turn, deadLetter, isExcused);
  // Cancelled while it waited: its layers need not begin.
  refuseWhenOver(turn);
  const { spanIds, turnId } = turn;
  const span = watch(
    turn,
    { kind: 'turn', label: agent.address.agentName, id: turnId, mask: agent.mask, spanIds },
    undefined,
  );
  turn.span = span;
  const result = await runChain<TurnResult>(turn, {
    kind: 'turn',
    span,
    contextFor: (asking, next) => new TurnContext(turn, asking, next),
    core: () => enterSteps(turn),
    problemWith: problemWithTurnResult,
  });
  // Refuses what the layers after the last step put in.
  recordedMetadata(turn.metadata, agent.mask);
  return withoutSecrets(result, agent.mask);
}

/** A resumed turn has its input already; an event without input appends nothing. */
async function appendInput(turn: TurnIdentity & TurnWriting): Promise<void> {
  if (turn.before.inputId === undefined && turn.event.input !== undefined) {
    const id = `${turn.turnId}.input`;
    const message = createUserMessage(turn.event.input, {}, { id, createdAt: turn.event.createdAt });
    turn.conversation.appendInput(message, originOf(turn.event));
  }
  await turn.log.flush();
}

/** Of the agents that wait for the answer the last one asked; one that only sent does not say for which conversation. */
function originOf({ source: { kind, name }, callChain }: AgentEvent): InputOrigin {
  const caller = kind === 'agent' ? callChain?.at(-1) : undefined;
  return { kind, name, ...(caller === undefined ? {} : { instanceKey: caller.instanceKey }) };
}

/** Its input is in the conversation by now, so that nothing is lost; but nothing of it is tried again. */
function refuseDeadLetter(
  { agent, replay, before, resumed }: TurnIdentity,
  isDeadLetter: boolean,
  isExcused: boolean,
): void {
  // What is replayed was run.
  if (replay !== undefined) return;
  const crashes = before.resumes + (resumed && !isExcused ? 1 : 0);
  if (crashes < agent.policy.crashesBeforeDeadLetter && !isDeadLetter) return;
  // Whoever supervises the process may have seen crashes that left nothing in the log.
  const times = isDeadLetter ? 'too often' : `${crashes} times`;
  throw new GoondanError('E_DEAD_LETTER', `This event crashed its agent ${times} and was put aside.`);
}

/** Every turn layer has done its part before `next()`: what they did counts from here on, also after a crash. */
async function enterSteps(turn: RunningTurn): Promise<TurnResult> {
  const { agent, before } = turn;
  // A layer that hung may wake up and go on when its turn was given up long ago.
  refuseWhenOver(turn);
  if (before.restorePoint === undefined) {
    const extensionState = agent.states.snapshot();
    turn.log.write({ type: 'entered', metadata: recordedMetadata(turn.metadata, agent.mask), extensionState });
  } else {
    restoreMetadata(turn, before.restorePoint.metadata);
    agent.states.restore(before.restorePoint.extensionState);
  }
  turn.muted = false;
  const result = await runSteps(turn);
  turn.phase = 'post';
  return result;
}

/** In place, because layers may hold on to the object: it is one for the whole turn. */
function restoreMetadata(turn: TurnWriting, metadata: Readonly<TurnWriting['metadata']>): void {
  if (Object.isFrozen(turn.metadata)) turn.metadata = {};
  for (const key of Object.keys(turn.metadata)) delete turn.metadata[key];
  Object.assign(turn.metadata, structuredClone(metadata));
}

/** A layer may return a message or an error of its own making. */
function withoutSecrets(result: TurnResult, mask: Mask): TurnResult {
  const { responseMessage, error } = result;
  return {
    ...result,
    ...(responseMessage && { responseMessage: maskMessage(responseMessage, mask) }),
    ...(error && { error: maskTurnError(error, mask) }),
  };
}

/** It is shown like one that was thrown. */
function maskTurnError(error: TurnError, mask: Mask): TurnError {
  const { extension } = error;
  return { ...toTurnError(error, undefined, mask), ...(extension === undefined ? {} : { extension }) };
}

function failed(turn: TurnIdentity & TurnWriting, error: unknown): TurnResult {
  const { turnId, agent } = turn;
  // A layer that hangs keeps its step from ending.
  turn.deltas.brokenOff();
  turn.thrown = error;
  return { turnId, finishReason: 'error', error: toPlacedError(error, 'E_EXT_MIDDLEWARE', agent) };
}

/** The turn's only commit. A failed turn keeps its messages and what it did to extension states. */
async function commit(turn: RunningTurn, base: OpenTurn, result: TurnResult): Promise<TurnOutcome> {
  const { agent, conversation } = turn;
  // Resumed, and ended before its steps: its states are in the log, as its messages are.
  if (turn.muted && turn.before.restorePoint) agent.states.restore(turn.before.restorePoint.extensionState);
  conversation.removeEphemeral('step', undefined);
  conversation.removeEphemeral('turn', undefined);
  // From here on what a layer emits is refused, also where it would have been muted.
  turn.muted = false;
  const view = conversation.end();
  await save(turn, base, result);
  agent.stateVersion += 1;
  agent.warm = { version: base.version + 1, view };
  return { result, stepCount: turn.stepCount, usage: turn.usage };
}

/** A turn that cannot be saved leaves nothing behind: the next one starts from what is committed. */
async function save(
  { agent, log, conversation, turnId }: TurnIdentity & TurnWriting,
  { epoch, extensionState }: OpenTurn,
  result: TurnResult,
): Promise<void> {
  try {
    await log.flush();
    const states = agent.states.snapshot();
    await agent.store.commit(agent.address, epoch, turnId, conversation.delta(), states, result);
    agent.states.saved(states);
  } catch (error) {
    agent.states.restore(extensionState);
    throw error;
  }
}

function tellEnd(turn: TurnIdentity & TurnWriting, { result, stepCount, usage }: TurnOutcome, duration: number): void {
  const { agent } = turn;
  if (result.finishReason !== 'error') {
    const stepIndex = Math.max(0, stepCount - 1);
    turn.deltas.turnFinished({ stepId: stepIdOf(turn.turnId, stepIndex), stepIndex }, result.responseMessage);
    const truncated = result.truncated === true ? { truncated: true } : {};
    agent.bus.tell('turn.completed', () => ({ ...named(turn), stepCount, duration, usage, ...truncated }));
    return;
  }
  const error = result.error ?? { message: 'A layer ended the turn with an error.' };
  const ending = endingOf(result);
  agent.log(ending === 'cancelled' ? 'info' : 'error', `Turn ${ending}: ${error.message}`, {
    event: 'turn.failed',
    ...aboutThrown(error.extension === undefined ? {} : agent.locate(turn.thrown), { code: error.code ?? null }),
    ...(error.extension === undefined ? {} : { extension: error.extension }),
  });
  agent.bus.tell('turn.failed', () => ({ ...named(turn), stepCount, duration, error }));
}

function watched({ agent, turnId, event, spanIds, shown, resumed, before }: TurnIdentity): WatchedTurn {
  const { mask, locate } = agent;
  const about = { ...agent.address, turnId, event, spanIds, startedAt: shown.startedAt, mask, locate, resumed };
  return resumed ? { ...about, resumePoint: () => toResumePoint(before) } : about;
}

function named({ agent: { address, clock }, turnId, spanIds }: TurnIdentity) {
  return { turnId, ...address, timestamp: clock.now().toISOString(), ...spanIds.fields };
}
