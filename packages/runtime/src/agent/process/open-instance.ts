/**
 * One open agent instance in its process. It is assembled from the orchestrator's start message, and then handles the
 * orchestrator's messages. It accesses the process only through `ProcessHost`.
 */
import type { ExtensionStatusChanged, JsonObject } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import { codeFolders } from '../../config/code-folders.ts';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { type Clock, waitAtMost } from '../../ports/clock.ts';
import type { TurnObserver } from '../../trace/layer-span.ts';
import { type TurnListener, watchTurn } from '../../trace/watch-turn.ts';
import { GatheredLog } from '../../workspace/lines/gathered-log.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import { extensionDigest } from '../../config/extension-digest.ts';
import type { RecordedExtension } from '../../trace/recording.ts';
import { RegisterDraws } from '../draws/register-draws.ts';
import { defined } from '../../json/defined.ts';
import { maskJson } from '../../log/mask-secrets.ts';
import { STATUS_EVENT } from '../extension/extension-statuses.ts';
import { type RunningAgent, startAgent } from '../start/start-agent.ts';
import { TurnRunner } from './turn-runner.ts';
import { describeAgent } from './describe-agent.ts';
import { InstanceChanges } from './instance-changes.ts';
import { InstanceJournal } from './instance-journal.ts';
import { IpcApprover } from './ipc-approver.ts';
import { IpcChangesets } from './ipc-changesets.ts';
import { IpcCounters } from './ipc-counters.ts';
import { IpcEngine } from './ipc-engine.ts';
import { UndeliveredReplies } from './undelivered-replies.ts';
import type { AgentChannel, ProcessHost } from './process-host.ts';
import type { ProcessLog } from './process-log.ts';
import { TurnWatch } from './turn-watch.ts';
import { openTurnTraces } from './turn-traces.ts';

export interface OpenInstanceDeps {
  readonly channel: AgentChannel;
  readonly host: ProcessHost;
  readonly log: ProcessLog;
  /** Called when the turn of this event could not be committed. The process must then end. */
  readonly onLost: (eventId: string, thrown: unknown) => void;
}

/** Messages for an open instance; the process handles all others itself. */
export type InstanceMessage = Exclude<ToAgent, { readonly type: 'start' | 'ping' | 'drain' | 'store.ended' }>;

/** Opens the instance. **Errors** — mistakes in the plan, in its modules or in the stored conversation. */
export async function openInstance(start: AgentStart, deps: OpenInstanceDeps) {
  const { channel, host, log } = deps;
  host.moveTo(start.cwd);
  const prepareFor = bundleCodeWatch(host);
  const draws = start.agent.policy?.trace === 'off' ? undefined : new RegisterDraws();
  prepareFor(start.agent, draws);
  const warn = ({ path, message }: StoreWarning) => log.write('warn', 'store.repaired', `${path}: ${message}`);
  const journal = new InstanceJournal(host, start, warn, async (elsewhere) => {
    const { openIpcStore } = await import('./ipc-store.ts');
    return openIpcStore(channel, start.address, { ...elsewhere, clock: host.clock, warn });
  });
  const engine = new IpcEngine(channel, start.agents, host.clock);
  let { connections = [] } = start;
  const approver = new IpcApprover(channel);
  const counters = new IpcCounters(channel);
  const changesets = new IpcChangesets(channel, start.swarmName ?? '');
  /** Once true, nothing more is written to the conversation. */
  let isAbandoned = false;
  const replies = new UndeliveredReplies(
    journal,
    channel,
    () => !isAbandoned && turns.isBetweenTurns,
    (problem, thrown) => log.writeThrown('warn', 'reply.kept', problem, thrown),
  );
  // Telemetry starts before bundle code is loaded, so that bundle code cannot interfere with it.
  const telemetry = await startTelemetry(start, deps);
  const agent = await startOrClose(journal, () =>
    startAgent(
      { ...start.agent, ...start.address },
      {
        store: journal.store(() => replies.found()),
        blobs: journal.blobs(),
        engine,
        connections: () => connections,
        approver,
        changesets,
        counters,
        clock: host.clock,
        masked: start.masked ?? [],
        ...(host.shared === undefined ? { ownsProcess: true } : { sharesProcess: true, forget: host.shared.forget }),
        logSink: (line) => log.send(line),
        ...(draws && { drawScopeFor: () => draws.newScope() }),
        ...defined({ running: host.running?.() }),
      },
    ),
  );
  const watch = new TurnWatch(channel, start.watched);
  const events = recordEvents(agent, journal, watch, deps);
  /** The agent as it was declared, for each plan that is or was in force. */
  const declared = new WeakMap([[agent.parts.plan, start.agent]]);
  const traces = recordTraces(agent, journal, deps, recordedExtensions(agent, draws));
  const turns = new TurnRunner({
    agent,
    channel,
    watch,
    observe: () =>
      observeTurn(host.clock, [traces?.listen(), telemetry?.listen(declared.get(agent.parts.plan) ?? start.agent)]),
    written: async () => traces?.flush(),
    onTurnEnded: () => replies.acknowledge(),
    onLost: deps.onLost,
  });

  const changes = new InstanceChanges({
    agent,
    log,
    send: (message) => void channel.send(message).catch(() => undefined),
    onWanted(wanted) {
      log.prepare(wanted.secrets ?? [], codeFolders(wanted));
      prepareFor(wanted, draws);
    },
    onReady: ({ plan }, wanted) => void declared.set(plan, wanted),
    onSwapped: () =>
      void channel.send({ type: 'described', ...describeAgent(agent, host.clock.now()) }).catch(() => undefined),
  });

  /** Once true, no message reaches the turn: the turn must not continue while the instance is cleaned up and closed. */
  let isLeft = false;
  function leave(): void {
    isLeft = true;
    traces?.leave();
    // Requests that are open now never settle, because their answers are dropped.
    const { questions } = approver;
    for (const pending of [questions, changesets.requests, counters.requests, engine.calls, engine.lists]) {
      pending.forgetAll();
    }
  }

  function hear(message: InstanceMessage): void {
    if (isLeft) return;
    switch (message.type) {
      case 'watch':
        return watch.hear(message);
      case 'turn':
        // If this cannot be sent, the orchestrator treats the process as blocked.
        channel.send({ type: 'turn.begun' }).catch(() => undefined);
        return turns.ask(message);
      case 'turn.ahead':
        return turns.handAhead(message);
      case 'turn.back':
        return void returnAhead(message.eventId);
      case 'cancel':
        return turns.cancel(message.eventId, message.reason);
      case 'turn.steer':
        return turns.steer(message);
      case 'call.ended':
        return reportLate(engine.ended(message.callId, message.outcome), message.callId);
      case 'agents.listed':
        return reportLate(engine.lists.answer(message.callId, message.instances), message.callId);
      case 'turn.held':
        return turns.hold(message.eventId, message.isHeld);
      case 'question.ended':
        return reportLate(approver.questions.answer(message.callId, message.outcome), message.callId);
      case 'changeset.ended':
        return reportLate(changesets.requests.answer(message.callId, message.outcome), message.callId);
      case 'counters.ended':
        return reportLate(counters.requests.answer(message.callId, message.outcome), message.callId);
      case 'counters.waiting':
        return counters.waits(message.callId, message.limit);
      case 'agents.changed':
        connections = message.connections;
        return engine.agentsChanged(message.agents);
      case 'reply.taken':
        replies.taken(message.eventId);
        return void replies.acknowledge();
      case 'change.prepare':
      case 'change.swap':
      case 'change.drop':
        return changes.hear(message);
    }
  }

  async function returnAhead(eventId: string): Promise<void> {
    await turns.takeBackAhead();
    // A process that has lost its channel ends.
    await channel.send({ type: 'turn.returned', eventId }).catch(() => undefined);
  }

  function reportLate(wasAwaited: boolean, callId: string): void {
    if (!wasAwaited) log.write('debug', 'answer.late', `An answer to ${callId} arrived, but no caller waits for it.`);
  }

  return {
    agent,
    hear,
    /** Sends the replies that an earlier process left in the outbox. Never rejects. */
    sendUndelivered: () => replies.send(),
    /** Writes states, runtime events and traces to disk, and sends spans to the collector. */
    async flush() {
      const { saveStates } = agent.parts;
      await Promise.all([saveStates.flush(), events.flush(), traces?.flush(), telemetry?.finish(LAST_SPANS_MS)]);
    },
    /**
     * Finishes the turn, cleans up and closes. Returns `left` if the turn waits for a person, so that the next process
     * continues the turn. Returns `late` if the turn did not end within `graceMs`, and then closes nothing.
     */
    async close(graceMs: number, cleanUpMs?: number) {
      const deadline = host.clock.elapsed() + graceMs;
      const restMs = () => Math.max(0, deadline - host.clock.elapsed());
      await waitAtMost(host.clock, restMs(), turns.takeBackAhead());
      await agent.close(restMs(), cleanUpMs, leave);
      if (!isLeft && !(await settlesBefore(deadline, turns, host.clock))) return 'late';
      if (!isLeft) await replies.acknowledge();
      await Promise.all([events.close(), traces?.close(), telemetry?.finish(Math.min(LAST_SPANS_MS, restMs()))]);
      await journal.close();
      return isLeft ? 'left' : 'closed';
    },
    /** Ends the calls that wait for a person and must not be repeated, because the process is to end soon. */
    endWaits: () => agent.parts.activity.endWaits(),
    /** Releases the conversation after its turn was lost. Rejects if the conversation cannot be released. */
    async abandon() {
      isAbandoned = true;
      await agent.close(ABANDON_MS).catch(() => undefined);
      // Replies may still be acknowledged, which closing waits for.
      if (!turns.isBetweenTurns) throw new Error('the turn still runs');
      await Promise.allSettled([events.close(), traces?.close(), telemetry?.finish(0)]);
      await journal.close();
    },
  };
}

/** Closes the journal when the agent does not start: a shared process goes on, and must not keep the lock. */
async function startOrClose(journal: InstanceJournal, start: () => Promise<RunningAgent>): Promise<RunningAgent> {
  try {
    return await start();
  } catch (error) {
    await journal.close().catch(() => undefined);
    throw error;
  }
}

/** The time to clean up a conversation whose turn was lost. */
const ABANDON_MS = 1_000;

/** The time to send the last spans before the process ends. */
const LAST_SPANS_MS = 2_000;

/** Starts the export of spans. Without a collector it loads nothing and returns undefined. */
async function startTelemetry({ telemetry }: AgentStart, { host: { clock }, log }: OpenInstanceDeps) {
  if (telemetry === undefined) return undefined;
  const { openTelemetry } = await import('../../telemetry/open-telemetry.ts');
  const report = (level: 'info' | 'warn', message: string) => log.write(level, 'telemetry', message);
  return openTelemetry(telemetry, { clock, report });
}

/** Makes the observer that calls the given listeners; `undefined` without listeners. */
function observeTurn(clock: Clock, listeners: readonly (TurnListener | undefined)[]): TurnObserver | undefined {
  const wanted = listeners.filter((listener) => listener !== undefined);
  return wanted.length === 0 ? undefined : watchTurn(clock, wanted);
}

/**
 * Returns a function that prepares the process for the code of a wanted agent, before the code is loaded. `draws`: given
 * when draws are recorded.
 */
function bundleCodeWatch(host: ProcessHost) {
  let [isAnswering, isWatching] = [false, false];
  return ({ tools = [], extensions = [], bundleFolder }: DeclaredAgent, draws: RegisterDraws | undefined): void => {
    if (!isAnswering && tools.length + extensions.length > 0) {
      isAnswering = true;
      host.answerOwnPackages(bundleFolder);
    }
    if (isWatching || draws === undefined || extensions.length === 0) return;
    isWatching = true;
    host.watchDraws();
  };
}

/** Returns a function that describes the extensions in place. They are described once for each plan in force. */
function recordedExtensions(agent: RunningAgent, draws: RegisterDraws | undefined): () => readonly RecordedExtension[] {
  const described = () => ({ plan: agent.parts.plan, extensions: describeExtensions(agent, draws) });
  let newest = described();
  return () => {
    if (newest.plan !== agent.parts.plan) newest = described();
    return newest.extensions;
  };
}

function describeExtensions(
  { extensionParts, parts: { mask, tools: registry } }: RunningAgent,
  draws: RegisterDraws | undefined,
): RecordedExtension[] {
  return extensionParts.map(({ name, declaration, scope }) => {
    const drew = scope === undefined ? [] : (draws?.of(scope) ?? []);
    const tools = registry.ofExtension(name);
    return {
      name,
      digest: extensionDigest(declaration, mask),
      ...(tools.length === 0 ? {} : { tools }),
      ...(drew.length === 0 ? {} : { drew }),
    };
  });
}

/** Sends every runtime event to the watchers and writes it to the instance's file, with secrets masked. */
function recordEvents(
  agent: RunningAgent,
  journal: InstanceJournal,
  watch: TurnWatch,
  { host: { clock }, log }: OpenInstanceDeps,
): GatheredLog<JsonObject> {
  const events = new GatheredLog<JsonObject>({
    open: async () => (await journal.open()).eventSink.open(journal.address),
    clock,
    noteOf: (count, time) => ({ time, name: 'events.dropped', payload: { count } }),
    report: (problem) => log.write('warn', 'events.not_written', `Runtime events cannot be written: ${problem}`),
  });
  agent.parts.bus.watch((name, told) => {
    // Safe: payloads are JSON objects.
    const payload = maskJson(told as unknown as JsonObject, (text) => log.mask(text)) as JsonObject;
    events.add({ time: clock.now().toISOString(), name, payload });
    watch.happened(name, payload);
  });
  return events;
}

/** Records the chains of every turn, unless the policy disables traces. */
function recordTraces(
  { parts: { plan, statuses, bus } }: RunningAgent,
  journal: InstanceJournal,
  { host: { clock }, log }: OpenInstanceDeps,
  extensions: () => readonly RecordedExtension[],
) {
  if (plan.policy.trace === 'off') return undefined;
  const traces = openTurnTraces({
    open: async () => (await journal.open()).traceSink.open(journal.address),
    clock,
    extensions,
    statuses: () => statuses.all(),
    report: (problem) => log.write('warn', 'traces.not_written', `Traces cannot be written: ${problem}`),
  });
  bus.on(STATUS_EVENT, (status) => traces.statusChanged(status as ExtensionStatusChanged));
  return traces;
}

/** The minimum time that a turn that has just ended gets to send its answer. */
const ANSWER_MS = 100;

async function settlesBefore(deadline: number, turns: TurnRunner, clock: Clock): Promise<boolean> {
  await waitAtMost(clock, Math.max(ANSWER_MS, deadline - clock.elapsed()), turns.settled());
  return turns.isIdle;
}
