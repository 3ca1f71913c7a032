/**
 * Assembles and starts an agent: everything inside one agent instance, in one process. Modules that only some agents or
 * only turns need are imported on demand, which halves the start time and memory of a process.
 */
import { type AgentEvent, type ConnectionCard, GoondanError, type MiddlewareKind } from '@goondan/types';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { Activity } from '../turn-state/activity.ts';
import { CacheWatch } from '../turn-state/cache-watch.ts';
import type { AgentParts } from '../turn-state/agent-parts.ts';
import type { WantedParts } from '../change/agent-part.ts';
import { AgentChanges, type ForgetFiles, type PreparedChange } from '../change/agent-changes.ts';
import type { AgentPlan } from './agent-plan.ts';
import { codeFolders } from '../../config/code-folders.ts';
import { type Engine, noEngine } from '../seams/engine.ts';
import { type Approver, noApprover } from '../seams/approver.ts';
import { type Changesets, noChangesets } from '../seams/changesets.ts';
import { type CallCounters, ownCounters } from '../seams/counters.ts';
import { checkAgentEvent } from './check-agent-event.ts';
import type { AgentBlobs } from '../../store/blobs.ts';
import { memoryBlobs } from '../../store/memory-blobs.ts';
import { AgentFiles } from '../files/agent-files.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { EventBus } from '../extension/event-bus.ts';
import type { ExtensionPart } from '../extension/extension-part.ts';
import { collectExitListeners } from '../extension/exit-listeners.ts';
import { type ReportCleanup, runCleanups } from '../extension/run-cleanups.ts';
import type { DrawScope } from '../../trace/draw-scope.ts';
import { defined } from '../../json/defined.ts';
import { aboutThrown } from '../../log/about-thrown.ts';
import { createLogger } from '../../log/create-logger.ts';
import { noteRunningCode, type RunningCode } from '../../ipc/running-code.ts';
import { ExtensionStates } from '../extension/extension-states.ts';
import { extensionSecrets } from '../extension/extension-secrets.ts';
import { ExtensionStatuses, STATUS_EVENT } from '../extension/extension-statuses.ts';
import { SaveStates } from '../extension/save-states.ts';
import { type LocateThrown, locateIn } from '../../log/locate-thrown.ts';
import { cutMessage, type Log, stderrSink } from '../../log/log-sink.ts';
import { growingMask, maskJson } from '../../log/mask-secrets.ts';
import { checkBudgets } from '../model-call/budget-claims.ts';
import { openPlan } from './open-plan.ts';
import type { Fetch } from '../model/model-port.ts';
import type { Layer } from '../pipeline/layer.ts';
import { LayerRegistry } from '../pipeline/layer-registry.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { CleanMessages } from '../secrets/clean-messages.ts';
import { ToolRegistry } from '../tool/tool-registry.ts';
import type { runTurn as RunTurn, TurnOptions } from '../turn/run-turn.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import { TurnQueue } from './turn-queue.ts';
import { turnIdOf } from '../../ports/ids.ts';

/** The dependencies of an agent. Each is optional. */
export interface AgentDeps {
  readonly store?: ConversationStore;
  /** Keeps the bytes of images and files; in memory when absent. */
  readonly blobs?: AgentBlobs;
  readonly engine?: Engine;
  /** Lists the connections whose events can reach the agent; none when absent. */
  readonly connections?: () => readonly ConnectionCard[];
  /** The approver that receives approval requests of layers. */
  readonly approver?: Approver;
  /** Answers `ctx.bundle` of tools; without it, tools cannot change the bundle. */
  readonly changesets?: Changesets;
  /** Counts model calls together with other processes; without it, the agent counts its own calls. */
  readonly counters?: CallCounters;
  /** Notes which code of the bundle runs, for a supervisor of this process. */
  readonly running?: RunningCode;
  readonly clock?: Clock;
  /** Receives complete log lines, with secrets already masked. Must not throw. */
  readonly logSink?: (line: LogLine) => void;
  /** Environment variables, for keys and endpoints that a model's resource does not contain. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Secrets that the plan does not have; they are masked, too. */
  readonly masked?: readonly string[];
  /** The `fetch` function that models use to reach their provider. */
  readonly fetch?: Fetch;
  /** Returns the scope for an extension's draws while it is loaded. */
  readonly drawScopeFor?: (extension: string) => DrawScope;
  /**
   * True if this process runs only this agent, or a test of it. `close` then calls every `beforeExit` listener that was
   * added after the start. Otherwise `close` calls only those that extensions add while they are loaded: the others may
   * belong to the embedding program.
   */
  readonly ownsProcess?: boolean;
  /** True if the process also runs other conversations: code that is not being loaded may run during a load. */
  readonly sharesProcess?: boolean;
  /** See `AgentChangesDeps.forget`. */
  readonly forget?: ForgetFiles;
}

export interface RunningAgent {
  readonly parts: AgentParts;
  /** Names of the extensions in place, in the order of the plan. */
  readonly extensions: readonly string[];
  /** The extensions in place. */
  readonly extensionParts: readonly ExtensionPart[];
  /** Runs a turn for this event, after the turns of earlier events. */
  handle(event: AgentEvent, options?: TurnOptions): Promise<TurnOutcome>;
  /**
   * Prepares a change to another plan of this agent: loads its new and changed parts and holds them. Parts with the same
   * identity and declaration are retained, with everything they have in memory. If this fails, or if `signal` is
   * aborted, nothing has changed. One change is prepared at a time. `change`: the name of the change, which is the same in
   * every conversation of a process.
   *
   * **Errors** — those of a start with the plan; `E_RELOAD_FAILED` if only a new process can take the change.
   */
  prepare(plan: AgentPlan, signal?: AbortSignal, change?: string): Promise<PreparedChange>;
  /** Returns the layers of a chain, outermost first. */
  layers(kind: MiddlewareKind): readonly Layer[];
  /**
   * Waits for the running turn, then lets every extension clean up for at most `cleanUpMs`. Both together take at most
   * `graceMs`. With `onLeft`, a turn that only waits for people is not awaited: `onLeft` is called once the turn's
   * records are on disk, and then the cleanup begins. `onLeft` must keep the turn from continuing. The next process
   * continues the turn from its records.
   */
  close(graceMs?: number, cleanUpMs?: number, onLeft?: () => void): Promise<void>;
}

const MOST_WAITING = 1_000;

export async function startAgent(plan: AgentPlan, deps: AgentDeps = {}): Promise<RunningAgent> {
  const clock = deps.clock ?? systemClock;
  const current: { event: AgentEvent | undefined } = { event: undefined };
  const { parts, changes, prepare, report } = await assemble(plan, deps, clock, () => current.event);
  const exitListeners = deps.ownsProcess === true ? collectExitListeners() : undefined;
  await changes.start(await wantedParts(plan));
  const queue = new TurnQueue(MOST_WAITING);
  let closing: Promise<void> | undefined;
  const agentClosed = () => new GoondanError('E_AGENT_CLOSED', `Agent "${plan.agentName}" is shut down.`);
  const shutDown = async (graceMs: number, cleanUpMs: number, onLeft?: () => void) => {
    const startedAt = clock.elapsed();
    const graceOver = Promise.withResolvers<void>();
    const callOff = clock.after(graceMs, () => graceOver.resolve());
    const ends = [queue.idle(), graceOver.promise];
    if (onLeft !== undefined) ends.push(parts.activity.leave(onLeft));
    await Promise.race(ends);
    callOff();
    const rest = () => Math.max(0, graceMs - (clock.elapsed() - startedAt));
    const budgetMs = Math.min(rest(), cleanUpMs);
    const cleanUpStart = clock.elapsed();
    await changes.close(budgetMs);
    // Collected now, because layers, tools, timers and cleanups may add listeners too.
    const late =
      exitListeners
        ?.collected()
        .takeOff()
        .map((cleanup) => ({ cleanup })) ?? [];
    await runCleanups(late, Math.max(0, budgetMs - (clock.elapsed() - cleanUpStart)), clock, report);
    await parts.saveStates.close(rest());
  };
  let runTurn: typeof RunTurn | undefined;
  return {
    parts,
    get extensions() {
      return changes.extensions.map(({ name }) => name);
    },
    get extensionParts() {
      return changes.extensions;
    },
    async prepare(wanted, signal, change) {
      if (closing !== undefined) throw agentClosed();
      return prepare(wanted, signal, change);
    },
    layers: (kind) => parts.layers.of(kind),
    async handle(event, options) {
      if (closing !== undefined) throw agentClosed();
      const checked = parts.files.takeInput(checkAgentEvent(event, parts.address.instanceKey));
      return queue.run(async () => {
        current.event = checked;
        // Loaded with the first turn. An import takes some microseconds, also when the module is there.
        runTurn ??= (await import('../turn/run-turn.ts')).runTurn;
        changes.turnStarts();
        return runTurn(parts, checked, options).finally(() => {
          current.event = undefined;
          changes.turnEnds();
        });
      });
    },
    close: (graceMs = 30_000, cleanUpMs = graceMs, onLeft) => (closing ??= shutDown(graceMs, cleanUpMs, onLeft)),
  };
}

async function wantedParts({ tools = [], extensions = [], agentTools }: AgentPlan): Promise<WantedParts> {
  if (agentTools !== true) return { tools, extensions };
  return { tools: [...tools, (await import('../agents-api/agents-tool.ts')).agentsTool], extensions };
}

function reportCleanup(log: Log, locate: LocateThrown): ReportCleanup {
  return (problem, extension, thrown) =>
    log('error', problem, {
      ...(extension !== undefined && { extension }),
      event: 'extension.cleanup_failed',
      ...aboutThrown(locate(thrown)),
    });
}

async function assemble(plan: AgentPlan, deps: AgentDeps, clock: Clock, currentEvent: () => AgentEvent | undefined) {
  const address = { agentName: plan.agentName, instanceKey: plan.instanceKey ?? 'default' };
  const bundleFolder = plan.bundleFolder ?? process.cwd();
  const store = deps.store ?? (await import('../conversation/memory-store.ts')).memoryStore();
  const mask = growingMask([...(deps.masked ?? []), ...(plan.secrets ?? [])]);
  let folders = codeFolders(plan);
  let locateNow = locateIn(folders, mask);
  const locate: LocateThrown = (thrown) => locateNow(thrown);
  const log = logFor(address, deps.logSink ?? stderrSink, mask, clock, currentEvent);
  const modelDeps = {
    clock,
    environment: deps.environment ?? process.env,
    folder: bundleFolder,
    warn: (message: string) => log('warn', message, { event: 'model.warning' }),
    ...(deps.fetch !== undefined && { fetch: deps.fetch }),
  };
  const first = await openPlan(plan, address, modelDeps);
  const committed = await store.read(address);
  const running = deps.running ?? noteRunningCode()();
  const tools = new ToolRegistry();
  const states = new ExtensionStates(committed.extensionState, mask, committed.stateVersion);
  const saveStates = new SaveStates(states, clock, store, address, (level, message) =>
    log(level, message, { event: 'states.not_written' }),
  );
  const bus = new EventBus((event, error, extension) =>
    log('error', `A handler of "${event}" failed: ${toTurnError(error).message}`, {
      event: 'events.handler_failed',
      ...(extension === undefined ? {} : { extension }),
      ...aboutThrown(locate(error)),
    }),
  );
  const layers = new LayerRegistry();
  const statuses = new ExtensionStatuses({
    address,
    mask,
    now: () => clock.now(),
    isTool: (name) => tools.get(name) !== undefined,
    currentTurn: () => turnOf(currentEvent()),
    tell: (changed) => bus.tell(STATUS_EVENT, () => changed),
    refuse: (problem, extension) =>
      log('warn', `A status of this extension was ignored: ${problem}.`, { extension, event: 'status.refused' }),
  });
  const addSecrets = extensionSecrets(mask, (problem, extension) =>
    log('warn', `Secrets of this extension are not masked: ${problem}.`, { extension, event: 'secrets.refused' }),
  );
  const loggerFor = (extension?: string) =>
    createLogger(
      (level, message) => log(level, message, defined({ extension })),
      () => clock.elapsed(),
    );
  const parts: AgentParts = {
    address,
    plan: first,
    newestPlan: () => changes.newestPlan,
    changeBetweenSteps: () => changes.betweenSteps(),
    workdir: plan.workdir ?? process.cwd(),
    bundleFolder,
    layers,
    tools,
    states,
    saveStates,
    bus,
    statuses,
    store,
    files: new AgentFiles(deps.blobs ?? memoryBlobs(), address, () => parts.plan.policy),
    engine: deps.engine ?? noEngine,
    connections: deps.connections ?? (() => []),
    approver: deps.approver ?? noApprover,
    changesets: deps.changesets ?? noChangesets,
    counters: deps.counters ?? ownCounters(clock, address),
    activity: new Activity(),
    running,
    clock,
    mask,
    locate,
    cleanMessages: new CleanMessages(mask),
    cacheWatch: new CacheWatch(),
    log,
    toolLogger: loggerFor(),
    warm: undefined,
  };
  const report = reportCleanup(log, locate);
  let toolNumber = 0;
  const changes: AgentChanges = new AgentChanges({
    layers,
    tools,
    states,
    bus,
    statuses,
    addSecrets,
    loggerFor,
    log,
    running,
    clock,
    report,
    onRefusedTool: ({ code, message }, extension) =>
      log('warn', `${message} The tool is not offered. (${code})`, {
        ...defined({ extension }),
        event: 'tool.refused',
        data: { code },
      }),
    nextToolNumber: () => (toolNumber += 1),
    drawScopeFor: deps.drawScopeFor,
    sharesProcess: deps.sharesProcess,
    forget: deps.forget,
    planNow: () => parts.plan,
    check: checkBudgets,
    exchange(wanted) {
      const isSamePrompt = parts.plan.systemPrompt === wanted.systemPrompt;
      parts.plan = wanted;
      if (!isSamePrompt) parts.warm?.view.changeSystemPrompt(wanted.systemPrompt);
    },
  });
  /** Prepares a change. Its secrets are masked from now on, and the place of an error in its code is found. */
  const plans = new WeakMap([[first, plan]]);
  const prepare: RunningAgent['prepare'] = async (wanted, signal, change) => {
    const { refuseReplacement } = await import('./refuse-replacement.ts');
    refuseReplacement(plans.get(changes.newestPlan) ?? plan, wanted);
    mask.add(wanted.secrets ?? []);
    folders = [...new Set([...folders, ...codeFolders(wanted)])];
    locateNow = locateIn(folders, mask);
    const opened = await openPlan(wanted, address, modelDeps, changes.newestPlan);
    plans.set(opened, wanted);
    return changes.prepare(await wantedParts(wanted), opened, signal, change);
  };
  return { parts, changes, prepare, report };
}

function turnOf(event: AgentEvent | undefined): { readonly turnId: string; readonly traceId: string } | undefined {
  return event && { turnId: turnIdOf(event.id), traceId: event.traceId };
}

function logFor(
  address: AgentParts['address'],
  sink: (line: LogLine) => void,
  mask: AgentParts['mask'],
  clock: Clock,
  currentEvent: () => AgentEvent | undefined,
): Log {
  return (level, message, { extension, event, place, data } = {}) => {
    sink({
      time: clock.now().toISOString(),
      level,
      message: cutMessage(mask(message)),
      agent: address.agentName,
      instance: address.instanceKey,
      ...defined({ extension }),
      ...turnOf(currentEvent()),
      ...defined({ event, place, data: data && maskJson(data, mask) }),
    });
  };
}
