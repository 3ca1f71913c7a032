/**
 * Runs one turn again from its recording, with the same turn loop, the same onion and the agent's own layers. Models,
 * tools, other agents and people are not called: every effect gets its outcome from the recording.
 */
import { reviveEvent, type Stored } from '../../messages/message-text.ts';
import { type AgentEvent, type ConnectionCard, GoondanError, type JsonValue } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { diffJson } from '../../json/diff-json.ts';
import { type Clock, systemClock, waitAtMost } from '../../ports/clock.ts';
import type { ReplayOutcome, ReplaySource } from '../../trace/replay.ts';
import { throwable } from '../../trace/thrown-record.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { type Engine, noEngine } from '../seams/engine.ts';
import { fromResumePoint } from '../conversation/resume-point.ts';
import { startAgent } from '../start/start-agent.ts';
import { PlanChanges, type RecordedChange } from './plan-changes.ts';
import { replayStore } from './replay-store.ts';
import { ReplayWatch } from './replay-watch.ts';
import type { TurnReplay } from '../turn-state/turn-replay.ts';

/** The time limit of a replay, so that a layer that never settles does not block the replay. */
const LONGEST_MS = 60_000;
const CLEAN_UP_MS = 5_000;

export interface ReplayDeps {
  readonly clock?: Clock;
  readonly engine?: Pick<Engine, 'catalog'>;
  readonly connections?: () => readonly ConnectionCard[];
  /** The changes of the plan between the steps of the turn, in order. */
  readonly changes?: readonly RecordedChange[];
}

/**
 * Replays a turn. If `watchDraws` was called in this process, draws return their recorded values.
 * `ctx.agents.catalog()` lists the agents of `engine`, and `ctx.runtime.connections` is the list of `connections`.
 *
 * **Errors** — those of starting an agent.
 */
export async function replayTurn(
  plan: AgentPlan,
  start: ReplaySource,
  { clock = systemClock, engine, connections, changes: recorded = [] }: ReplayDeps = {},
): Promise<ReplayOutcome> {
  const watch = new ReplayWatch(start.recording, start.ignored, clock);
  const store = replayStore(start);
  const agent = await startAgent(withoutTheOutside(plan), {
    store,
    engine: { ...noEngine, ...engine },
    ...(connections && { connections }),
    clock: { ...clock, now: () => watch.now },
    logSink: () => undefined,
    drawScopeFor: (extension) => watch.registerDraws(extension),
  });
  watch.agent = agent;
  const changes = new PlanChanges(
    agent,
    recorded.map((change) => ({ ...change, plan: withoutTheOutside(change.plan) })),
  );
  watch.changes = changes;
  changes.prepareNext();
  await Promise.race([changes.ready, changes.failed]);
  const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
  const callOff = clock.after(LONGEST_MS, () => {
    watch.hang(LONGEST_MS);
    giveUp();
  });
  const options = { observer: watch, replay: replayOf(start, watch, changes), signal: watch.signal };
  const turn = agent.handle(revive(start.recording.event), options);
  await Promise.race([
    turn.then(() => compareStates(start.stateAfter, store.stateAfter, watch)),
    watch.stopped,
    late,
    changes.failed,
  ]).finally(callOff);
  const outcome = watch.outcome();
  // A stopped turn never settles, so it is abandoned.
  turn.catch(() => undefined);
  await waitAtMost(clock, CLEAN_UP_MS, agent.close(0, CLEAN_UP_MS)).catch(() => undefined);
  return outcome;
}

function replayOf(source: ReplaySource, watch: ReplayWatch, changes: PlanChanges): TurnReplay {
  const { recording, times, events, taken = [] } = source;
  const { resumePoint, startedAt } = recording;
  return {
    startedAt: new Date(startedAt),
    before: resumePoint && fromResumePoint(resumePoint, events.map(reviveEvent)),
    timeOf: (messageId) => (times[messageId] === undefined ? undefined : new Date(times[messageId])),
    tookSchema: (key) =>
      recording.effects.some((effect) => effect.key === key && isPlainObject(effect.asked) && 'output' in effect.asked),
    takenBefore: (stepIndex) =>
      taken.flatMap(({ seq, event, beforeStep }) => (beforeStep === stepIndex ? [{ seq, event: revive(event) }] : [])),
    async serve(effect): Promise<JsonValue> {
      const served = watch.serve(effect);
      await changes.ready;
      if (served === 'when cancelled') await aborted(watch.signal);
      const outcome = served === 'when cancelled' ? watch.outcomeOfPending(effect.key) : served;
      if (outcome.ok) return structuredClone(outcome.value);
      throw throwable(outcome.error);
    },
  };
}

/** Resolves when the signal aborts, which may never happen. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/**
 * Returns the plan without access to the outside: no model is opened, and a tool's module is imported only if its
 * parameters are defined there.
 */
function withoutTheOutside(plan: AgentPlan): AgentPlan {
  const refuse = () =>
    Promise.reject(new GoondanError('E_CANCELLED', 'A replay calls no model, no tool and no other agent.'));
  return {
    ...plan,
    // The replay has its own time limit. If the recorded turn timed out, the replay is cancelled at the same point.
    policy: { ...plan.policy, turnTimeoutMs: 2 * LONGEST_MS },
    // The names in the spec are kept for `ctx.runtime.model`.
    models: Object.fromEntries(Object.entries(plan.models).map(([ref, spec]) => [ref, { ...spec, generate: refuse }])),
    ...(plan.tools && {
      tools: plan.tools.map((tool) => ({ ...tool, instead: refuse })),
    }),
  };
}

function revive({ createdAt, ...event }: Stored<AgentEvent>): AgentEvent {
  return { ...event, createdAt: new Date(createdAt) };
}

/** Compares the state of each extension after the turn. */
function compareStates(then: ReplaySource['stateAfter'], now: ReplaySource['stateAfter'], watch: ReplayWatch): void {
  if (watch.isHalted) return;
  for (const extension of Object.keys(then)) {
    const { changes } = diffJson(then[extension], now[extension]);
    if (changes.length === 0) continue;
    const message = 'had a different state after the turn than in the recording';
    watch.differs([], { extension, name: '' }, { what: 'state', message, changes });
  }
}
