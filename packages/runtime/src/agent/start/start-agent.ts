/**
 * Assembles and starts an agent: everything inside one agent instance, in one process. Modules that only some agents or
 * only turns need are imported on demand, which halves the start time and memory of a process.
 */
import { type AgentEvent, type ConnectionCard, GoondanError, type MiddlewareKind } from '@goondan/types';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { Activity } from '../turn-state/activity.ts';
import type { AgentParts } from '../turn-state/agent-parts.ts';
import type { AgentPlan } from './agent-plan.ts';
import { describeSelf } from './describe-self.ts';
import { agentDigest } from '../../config/agent-digest.ts';
import { codeFolders } from '../../config/code-folders.ts';
import { type Engine, noEngine } from '../seams/engine.ts';
import { type Approver, noApprover } from '../seams/approver.ts';
import { checkAgentEvent } from './check-agent-event.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { EventBus } from '../extension/event-bus.ts';
import { collectExitListeners } from '../extension/exit-listeners.ts';
import { type ReportCleanup, runCleanups } from '../extension/run-cleanups.ts';
import type { DrawScope } from '../../trace/draw-scope.ts';
import { defined } from '../../json/defined.ts';
import { aboutThrown } from '../../log/about-thrown.ts';
import { createLogger } from '../../log/create-logger.ts';
import { ExtensionStates } from '../extension/extension-states.ts';
import { ExtensionStatuses, STATUS_EVENT } from '../extension/extension-statuses.ts';
import { SaveStates } from '../extension/save-states.ts';
import { locateIn } from '../../log/locate-thrown.ts';
import { cutMessage, type Log, stderrSink } from '../../log/log-sink.ts';
import { maskJson, maskSecrets } from '../../log/mask-secrets.ts';
import { modelSource } from '../model-call/open-model.ts';
import type { Fetch } from '../model/model-port.ts';
import type { Layer } from '../pipeline/layer.ts';
import { LayerRegistry } from '../pipeline/layer-registry.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { defaultPolicy } from '../../config/turn-policy.ts';
import { CleanMessages } from '../secrets/mask-model-call.ts';
import { ToolRegistry } from '../tool/tool-registry.ts';
import type { TurnOptions } from '../turn/run-turn.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import { TurnQueue } from './turn-queue.ts';
import { turnIdOf } from '../../ports/ids.ts';

/** The dependencies of an agent. Each is optional. */
export interface AgentDeps {
  readonly store?: ConversationStore;
  readonly engine?: Engine;
  /** Lists the connections whose events can reach the agent; none when absent. */
  readonly connections?: () => readonly ConnectionCard[];
  /** The approver that receives approval requests of layers. */
  readonly approver?: Approver;
  readonly clock?: Clock;
  /** Receives complete log lines, with secrets already masked. Must not throw. */
  readonly logSink?: (line: LogLine) => void;
  /** Environment variables, for keys and endpoints that a model's resource does not contain. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
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
}

export interface RunningAgent {
  readonly parts: AgentParts;
  /** Extension names in the order they were loaded. */
  readonly extensions: readonly string[];
  /** Runs a turn for this event, after the turns of earlier events. */
  handle(event: AgentEvent, options?: TurnOptions): Promise<TurnOutcome>;
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
  const parts = await assemble(plan, deps, clock, () => current.event);
  const exitListeners = deps.ownsProcess === true ? collectExitListeners() : undefined;
  await loadTools(plan, parts);
  const report = reportCleanup(parts);
  const extensions = await loadAllExtensions(plan, parts, report, deps.drawScopeFor);
  const queue = new TurnQueue(MOST_WAITING);
  let closing: Promise<void> | undefined;
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
    await extensions.cleanUp(budgetMs);
    // Collected now, because layers, tools, timers and cleanups may add listeners too.
    const late =
      exitListeners
        ?.collected()
        .takeOff()
        .map((cleanup) => ({ cleanup })) ?? [];
    await runCleanups(late, Math.max(0, budgetMs - (clock.elapsed() - cleanUpStart)), clock, report);
    await parts.saveStates.close(rest());
  };
  return {
    parts,
    extensions: extensions.names,
    layers: (kind) => parts.layers.of(kind),
    async handle(event, options) {
      if (closing !== undefined) throw new GoondanError('E_AGENT_CLOSED', `Agent "${plan.agentName}" is shut down.`);
      const checked = checkAgentEvent(event, parts.address.instanceKey);
      return queue.run(async () => {
        current.event = checked;
        const { runTurn } = await import('../turn/run-turn.ts');
        return runTurn(parts, checked, options).finally(() => void (current.event = undefined));
      });
    },
    close: (graceMs = 30_000, cleanUpMs = graceMs, onLeft) => (closing ??= shutDown(graceMs, cleanUpMs, onLeft)),
  };
}

async function loadTools(plan: AgentPlan, parts: AgentParts): Promise<void> {
  const declared = [...(plan.tools ?? [])];
  if (plan.agentTools === true) declared.push((await import('../agents-api/agents-tool.ts')).agentsTool);
  if (declared.length === 0) return;
  const { loadTool } = await import('../tool/load-tool.ts');
  for (const tool of declared) await loadTool(tool, parts.tools);
}

async function loadAllExtensions(
  { extensions = [] }: AgentPlan,
  { layers, tools, states, bus, statuses, clock, log }: AgentParts,
  report: ReportCleanup,
  drawScopeFor: AgentDeps['drawScopeFor'],
) {
  if (extensions.length === 0) return { names: [], cleanUp: () => Promise.resolve() };
  const { loadExtensions } = await import('../extension/load-extensions.ts');
  const loggerFor = (extension: string) =>
    createLogger(
      (level, message) => log(level, message, { extension }),
      () => clock.elapsed(),
    );
  const given = { layers, tools, states, bus, statuses, loggerFor, drawScopeFor };
  return loadExtensions(extensions, given, clock, report);
}

function reportCleanup({ log, locate }: AgentParts): ReportCleanup {
  return (problem, extension, thrown) =>
    log('error', problem, {
      ...(extension !== undefined && { extension }),
      event: 'extension.cleanup_failed',
      ...aboutThrown(locate(thrown)),
    });
}

async function assemble(
  plan: AgentPlan,
  deps: AgentDeps,
  clock: Clock,
  currentEvent: () => AgentEvent | undefined,
): Promise<AgentParts> {
  const address = { agentName: plan.agentName, instanceKey: plan.instanceKey ?? 'default' };
  const bundleFolder = plan.bundleFolder ?? process.cwd();
  const store = deps.store ?? (await import('../conversation/memory-store.ts')).memoryStore();
  const mask = maskSecrets(plan.secrets ?? []);
  const locate = locateIn(codeFolders(plan), mask);
  const log = logFor(address, deps.logSink ?? stderrSink, mask, clock, currentEvent);
  const openModel = modelSource(plan.models, {
    clock,
    environment: deps.environment ?? process.env,
    folder: bundleFolder,
    warn: (message) => log('warn', message, { event: 'model.warning' }),
    ...(deps.fetch !== undefined && { fetch: deps.fetch }),
  });
  const modelRef = plan.modelRef ?? Object.keys(plan.models)[0];
  if (modelRef === undefined) throw new GoondanError('E_MODEL_UNKNOWN', `Agent "${plan.agentName}" has no model.`);
  // Opened now, so that a bad script or a missing key fails the start, not the first turn.
  await openModel(modelRef);
  const committed = await store.read(address);
  const tools = new ToolRegistry(({ code, message }, extension) =>
    log('warn', `${message} The tool is not offered. (${code})`, {
      ...(extension !== undefined && { extension }),
      event: 'tool.refused',
      data: { code },
    }),
  );
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
  let planDigest: string | undefined;
  return {
    address,
    described: describeSelf(plan, address, modelRef),
    planDigest: () => (planDigest ??= agentDigest(plan, mask)),
    systemPrompt: plan.systemPrompt,
    modelRef,
    params: plan.params ?? {},
    policy: { ...defaultPolicy, ...plan.policy },
    workdir: plan.workdir ?? process.cwd(),
    bundleFolder,
    layers: new LayerRegistry(),
    tools,
    openModel,
    states,
    saveStates,
    bus,
    statuses: new ExtensionStatuses({
      address,
      mask,
      now: () => clock.now(),
      isTool: (name) => tools.get(name) !== undefined,
      currentTurn: () => turnOf(currentEvent()),
      tell: (changed) => bus.tell(STATUS_EVENT, () => changed),
      refuse: (problem, extension) =>
        log('warn', `A status of this extension was ignored: ${problem}.`, { extension, event: 'status.refused' }),
    }),
    store,
    engine: deps.engine ?? noEngine,
    connections: deps.connections ?? (() => []),
    approver: deps.approver ?? noApprover,
    activity: new Activity(),
    clock,
    mask,
    locate,
    cleanMessages: new CleanMessages(mask),
    log,
    toolLogger: createLogger(
      (level, message) => log(level, message),
      () => clock.elapsed(),
    ),
    warm: undefined,
  };
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
