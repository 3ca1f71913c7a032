/** Opens a turn: loads the conversation unless it is in memory, and restores the records of an interrupted run. */
import type { AgentEvent, JsonValue } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { SpanIds } from '../../trace/span-id.ts';
import type { AgentParts } from '../turn-state/agent-parts.ts';
import { Conversation } from '../conversation/conversation.ts';
import type { OpenTurn } from '../conversation/conversation-store.ts';
import { LlmView } from '../conversation/llm-view.ts';
import { MessageList } from '../../messages/message-list.ts';
import { readTurnLog, type TurnLog, TurnLogWriter } from '../conversation/turn-log.ts';
import { openDemand } from '../output/demand.ts';
import { Effects } from '../turn-state/effects.ts';
import { DeltaGate } from '../turn-state/delta-gate.ts';
import type { TurnOptions } from './run-turn.ts';
import { NO_USAGE } from '../../ports/token-usage.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { WaitingInputs } from '../turn-state/waiting-inputs.ts';
import { turnIdOf } from '../../ports/ids.ts';

/**
 * Opens the turn. The returned `base` is the commit that the turn starts from. If the turn cannot be committed, the
 * agent goes back to this commit.
 */
export async function openTurn(
  agent: AgentParts,
  event: AgentEvent,
  options: TurnOptions,
  bounds: Pick<RunningTurn, 'clock' | 'signal' | 'onAbort' | 'changeLimits'>,
): Promise<{ readonly turn: RunningTurn; readonly base: OpenTurn } | { readonly finished: TurnOutcome }> {
  const turnId = turnIdOf(event.id);
  const { seq } = options;
  const opened = await agent.store.open(agent.address, turnId, seq === undefined ? undefined : { seq, event });
  const waiting = options.waiting ?? new WaitingInputs();
  for (const eventId of opened.finishedAlso ?? []) waiting.took(eventId);
  if (opened.finished !== undefined) {
    return { finished: { stepCount: 0, usage: NO_USAGE, ...opened.finishedUsage, result: opened.finished } };
  }
  const { observer, replay } = options;
  const { movedFrom } = opened;
  const before = replay?.before ?? readTurnLog(opened.log, defined({ movedFrom, blocked: options.blocked }));
  for (const { eventId } of before.taken) waiting.took(eventId);
  const log = new TurnLogWriter(opened.log.length, async (at, records) => {
    // A record may name bytes that are still being stored.
    const storing = agent.files.settle();
    if (storing !== undefined) await storing;
    await agent.store.append(agent.address, opened.epoch, at, records);
  });
  const resumed = replay?.before !== undefined || opened.log.length > 0;
  if (resumed) log.write({ type: 'resumed', ...(options.isExcused === true ? { isExcused: true } : {}) });
  const conversation = await openConversation(agent, opened, before, log);
  const inputEvent = Object.freeze({ ...event });
  const toolResults: RunningTurn['toolResults'] = [];
  const turnLayers = agent.layers.of('turn');
  const demand = await openDemand(event.output, agent.plan.output, agent.mask);
  const turn: RunningTurn = {
    agent,
    event: inputEvent,
    turnId,
    spanIds: SpanIds.ofTurn({ ...agent.address, turnId }, event),
    shown: Object.freeze({
      id: turnId,
      ...agent.address,
      inputEvent,
      startedAt: replay?.startedAt ?? agent.clock.now(),
      get toolResults() {
        return Object.freeze([...toolResults]);
      },
    }),
    before,
    resumed,
    plan: agent.plan.digest(),
    observer,
    replay,
    waiting,
    isHandled: (input) => opened.isHandled(input),
    log,
    effects: new Effects(before, log, observer, replay),
    conversation,
    // The turn layers stay those of the turn's start, also when a change of the plan has others.
    deltas: new DeltaGate(
      turnId,
      options.onDelta,
      agent.mask,
      (kind) => (kind === 'turn' ? turnLayers : agent.layers.of(kind)),
      demand !== undefined,
    ),
    toolResults,
    demand,
    metadata: {},
    runtime: undefined,
    span: undefined,
    stepCount: 0,
    phase: 'pre',
    muted: before.restorePoint !== undefined,
    ...bounds,
    used: before.usage,
    lateUsages: [],
    isCounted: false,
  };
  const base = { ...opened, extensionState: stateAtStart(agent, opened) };
  return { turn, base };
}

async function openConversation(
  agent: AgentParts,
  opened: OpenTurn,
  before: TurnLog,
  log: TurnLogWriter,
): Promise<Conversation> {
  const view =
    takeWarm(agent, opened.version) ??
    new LlmView(MessageList.of(await opened.loadBase()), agent.plan.systemPrompt, agent.cleanMessages);
  const conversation = new Conversation(view, agent.plan.systemPrompt, {
    record: (event, author, stepId, took) =>
      log.write({
        type: 'message',
        event,
        author,
        ...(stepId === undefined ? {} : { stepId }),
        ...(took === undefined ? {} : { took }),
      }),
    takeFiles: (event) => agent.files.takeEvent(event),
    mask: agent.mask,
    warn: (message, author) =>
      agent.log('warn', message, {
        event: 'message.ignored',
        ...(author.kind === 'extension' ? { extension: author.name } : {}),
      }),
  });
  const taken = before.taken.map(({ messageId }) => messageId);
  const inputIds = before.inputId === undefined ? taken : [before.inputId, ...taken];
  conversation.restore(before.events, inputIds, before.authors);
  return conversation;
}

/**
 * Returns the view that the last turn left, if its version is still current, and removes it from the agent, because
 * this turn changes the view and may fail to commit.
 */
function takeWarm(agent: AgentParts, version: number): LlmView | undefined {
  const { warm } = agent;
  agent.warm = undefined;
  return warm?.version === version ? warm.view : undefined;
}

/**
 * Returns the states to restore if the turn cannot be committed: the states in memory, including those set between
 * turns. If this process missed a commit, the committed states are loaded first.
 */
function stateAtStart(agent: AgentParts, opened: OpenTurn): Record<string, JsonValue> {
  const { states } = agent;
  if (states.version !== opened.stateVersion) {
    for (const name of states.unsaved)
      agent.log('warn', 'A state that was set before the turn is dropped: there is a newer one.', { extension: name });
    states.restore(opened.extensionState);
    states.saved(opened.extensionState);
  }
  states.version = opened.stateVersion;
  return states.snapshot();
}
