/**
 * Starts the orchestrator of one workspace in this process. Its parts start in the order of their use and end in the
 * opposite order.
 *
 * Invariants:
 * 1. A workspace has one orchestrator; processes left by an earlier one are ended before anything is started.
 * 2. The guardian watches before the first child is started: no child survives this process, however it ends.
 * 3. Input accepted earlier is handled before new input.
 * 4. No code of the bundle runs in this process.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkSwarmPlan } from '../config/check-swarm-plan.ts';
import type { Examine } from '../config/examination.ts';
import type { SwarmPlan } from '../config/swarm-plan.ts';
import { VERSION } from '../config/version.ts';
import { controlSocketPath, systemSocketEnvironment } from '../control/control-socket-path.ts';
import type { Swarm } from '../control/swarm.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { writeStandardError } from '../ports/write-standard-error.ts';
import { type Ids, randomIds } from '../ports/ids.ts';
import type { LogLevel, LogLine } from '../ports/log-line.ts';
import { checkPlatform } from '../ports/platform.ts';
import type { Spawn } from '../ipc/spawn.ts';
import { type FilePlacement, joinFiles } from '../store/files/file-placement.ts';
import { openNodeStore } from '../store/files/open-node-store.ts';
import type { NodeStore } from '../store/store.ts';
import { namesCollector, showEndpoint, type SwarmTelemetry } from '../config/telemetry-settings.ts';
import { newTraceId } from '../trace/span-id.ts';
import { recordDescriptions } from '../workspace/swarms/agent-descriptions.ts';
import type { ChangesetRecovery } from '../workspace/changesets/changesets.ts';
import { workspaceFolder } from '../workspace/layout/instance-paths.ts';
import { SwarmLog } from '../workspace/logs/swarm-log.ts';
import type { SwarmRun } from '../workspace/swarms/own-workspace.ts';
import type { StoreWarning } from '../workspace/store-ports.ts';
import { recordSwarm } from '../workspace/swarms/swarm-record.ts';
import { agentChildren } from './child/agent-children.ts';
import { reportRecoveries } from './changesets/report-recoveries.ts';
import { serveChangesets } from './changesets/serve-changesets.ts';
import { askAgent } from './swarm/ask-agent.ts';
import { Connections } from './connections/connections.ts';
import { localSwarm } from './control/local-swarm.ts';
import { serveControl } from './control/serve-control.ts';
import { drainSwarm } from './drain-swarm.ts';
import type { Keepers } from './keepers/keepers.ts';
import { openBundleChanges } from './open-bundle-changes.ts';
import { openKeepers } from './open-keepers.ts';
import { keepGuardian } from './guardian/keep-guardian.ts';
import { endLeftovers } from './guardian/kill-tagged.ts';
import { newTag, type ProcessTag, RUN_VARIABLE } from './guardian/process-tag.ts';
import { CurrentPlan } from './plan/current-plan.ts';
import { copyStates } from './reload/copy-states.ts';
import { processTrials } from './reload/process-trials.ts';
import { swarmReloader } from './reload/reload-swarm.ts';
import { agentRunner, connectorRunner } from '../ports/runner-path.ts';
import { childSpawner } from './child/spawn-child.ts';
import { Stopping } from './stopping.ts';
import { operatorPolicy } from './plan/operator-policy.ts';
import { SwarmAgents, type SwarmDeps } from './swarm/swarm-agents.ts';

export interface OrchestratorOptions {
  readonly plan: SwarmPlan;
  /** Reads the plan again; when absent, `reload` is not possible. */
  readonly readPlan?: () => Promise<SwarmPlan>;
  /** Examines changesets of the bundle in `bundleFolder`; when absent, agents cannot change the bundle. */
  readonly examine?: Examine;
  /** The interrupted changesets that were finished before the plan was read. */
  readonly recoveries?: readonly ChangesetRecovery[];
  readonly stateRoot: string;
  readonly workspaceId: string;
  /** The real path of the bundle, by which commands find the swarm. */
  readonly bundleFolder?: string;
  /** Set to false if the file system has no `flock`; see `ownWorkspace`. */
  readonly flock?: boolean;
  /** Receives every log line, in addition to the files. Must not throw. */
  readonly onLog?: (line: LogLine) => void;
  /**
   * The operator's environment, from which children inherit the listed variables; the environment of this process when
   * absent.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** The operating system; the system of this process when absent. */
  readonly platform?: string;
}

/**
 * Resolves when the swarm accepts input.
 *
 * **Errors** — `E_PLATFORM`, `E_SWARM_PLAN`, `E_SWARM_RUNNING`, `E_PROCESS_START`, `E_CONTROL_PATH`, those of the disk.
 */
export async function startOrchestrator(options: OrchestratorOptions): Promise<Swarm> {
  checkPlatform(options.platform ?? process.platform);
  const plan = checkSwarmPlan(options.plan);
  const endings = new AsyncDisposableStack();
  try {
    return await start({
      clock: systemClock,
      ids: randomIds,
      ...options,
      currentPlan: new CurrentPlan(plan, operatorPolicy(options.environment ?? process.env)),
      endings,
    });
  } catch (error) {
    await endings.disposeAsync().catch(() => undefined);
    throw error;
  }
}

interface Starting extends Omit<OrchestratorOptions, 'plan'> {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly currentPlan: CurrentPlan;
  /** Ends started parts in the opposite order, also when a start fails half way. Errors while ending are ignored. */
  readonly endings: AsyncDisposableStack;
}

async function start(starting: Starting): Promise<Swarm> {
  const { currentPlan, clock, ids, endings, workspaceId } = starting;
  const { name } = currentPlan.value.plan;
  const startedAt = clock.now().toISOString();
  const folder = workspaceFolder(starting.stateRoot, workspaceId);
  const controlSocket = controlSocketPath(folder, workspaceId, systemSocketEnvironment());
  const runTag = newTag(RUN_VARIABLE);

  const { placement, leftOver } = await takeWorkspace(starting, { swarm: name, runTag, controlSocket });
  const log = openLog(starting);
  if (leftOver > 0) log.report('warn', 'run.left_over', `Ended ${leftOver} processes of an earlier run.`);
  reportRecoveries(starting.recoveries ?? [], (...line) => log.report(...line));

  const isRecorded = rememberSwarm(starting, log);
  const store = await openStore(starting, placement, log);
  const spawn = await openSpawn(starting, runTag, log);
  const runFolder = makeRunFolder(folder, placement, endings);
  const children = openChildren(starting, spawn, runFolder);
  const telemetry = await readTelemetry(starting, log);
  const keepers = openKeepers(runFolder, { spawn, clock, currentPlan, log: (line) => log.tell(line) });
  const swarm = openSwarm(starting, {
    store,
    requests: await store.approvals.list(),
    children,
    telemetry,
    keepers,
    log,
  });
  const connections = openConnections(starting, swarm, spawn, runFolder);

  const { instances } = swarm;
  const trials = processTrials({
    spawn,
    clock,
    folder: runFolder,
    swarm,
    startChild: (agent, request) => children.start(agent, request),
    statesOf: (agent) => copyStates(agent, { instances, store, report: (...line) => swarm.report(...line) }),
  });
  const { source, findUndo, readPlan } = openBundleChanges(starting, swarm);
  const reloader = swarmReloader({ currentPlan, swarm, connections, trials, clock, findUndo }, readPlan);
  const changesets = serveChangesets({ currentPlan, swarm, reloader, clock }, source);

  const stopping = new Stopping(async (graceMs, hurry) => {
    await Promise.all([reloader.close(), changesets.close()]);
    await drainSwarm({ clock, swarm, connections, keepers }, graceMs, hurry);
    swarm.report('info', 'swarm.stopped', `Swarm "${name}" is stopped.`);
    await endings.disposeAsync().catch(() => undefined);
    // Closed last: a client that stopped the swarm over the socket gets its answer when the workspace is free.
    await server.close();
  });
  const about = { swarm: name, workspaceId, pid: process.pid, startedAt, version: VERSION };
  const handle = localSwarm({
    swarm,
    store,
    clock,
    ids,
    entryAgent: () => currentPlan.value.entryAgent,
    graceMs: () => currentPlan.value.settings.graceMs,
    describe: () => ({
      ...about,
      connections: connections.status(),
      ...keepers.describe(),
      ...(reloader.reports.length === 0 ? {} : { changes: reloader.reports }),
    }),
    reload: () => reloader.reload(),
    stopped: stopping.stopped,
    failure: () => stopping.failure,
    stop: (graceMs) => stopping.stop(graceMs),
  });

  children.warmUp();
  await swarm.wake();
  await isRecorded;
  const report = (error: unknown, what: string) => log.report('error', 'control.failed', `${what}: ${String(error)}`);
  const server = await serveControl(handle, { path: controlSocket, clock, report });
  connections.start();
  placement.onLost((error) => {
    log.report('error', 'workspace.lost', `${error.message} The swarm ends.`);
    stopping.fail(error);
  });
  log.report('info', 'swarm.started', `Swarm "${name}" runs with the agents ${swarm.agents.join(', ')}.`);
  return handle;
}

/**
 * Takes the workspace and ends remaining processes of earlier runs. In the result, `leftOver` is the number of ended
 * processes.
 */
async function takeWorkspace(
  { stateRoot, workspaceId, clock, endings, flock = true }: Starting,
  run: SwarmRun,
): Promise<{ readonly placement: FilePlacement; readonly leftOver: number }> {
  const placement = await joinFiles({ stateRoot, workspaceId, clock, ...(flock ? {} : { flock }) }, run);
  endings.defer(() => placement.leave());
  return { placement, leftOver: await endLeftovers(placement.broken, clock) };
}

/** Writes log lines to the files and to the starting program, and, once the swarm exists, to its watchers. */
interface StartLog {
  /** Writes a line to the files and to the starting program only. */
  write(line: LogLine): void;
  /** Writes a line, and passes it to the watchers of the swarm. */
  tell(line: LogLine): void;
  report(level: LogLevel, event: string, message: string): void;
  /** From now on, passes lines to the swarm, which writes them here itself. */
  handOver(swarm: SwarmAgents): void;
}

function openLog({ stateRoot, workspaceId, clock, endings, onLog = () => undefined }: Starting): StartLog {
  const files = new SwarmLog({
    stateRoot,
    workspaceId,
    clock,
    // Written to standard error, because the log itself has just failed.
    warn: ({ path, message }) => writeStandardError(`${path} ${message}\n`),
  });
  endings.defer(() => files.close());
  const write = (line: LogLine) => {
    files.write(line);
    onLog(line);
  };
  let tell = write;
  return {
    write,
    tell: (line) => tell(line),
    report: (level, event, message) => tell({ time: clock.now().toISOString(), level, message, event }),
    handOver: (swarm) => {
      tell = (line) => swarm.log(line);
    },
  };
}

async function openStore(
  { stateRoot, workspaceId, clock, endings }: Starting,
  placement: FilePlacement,
  log: StartLog,
): Promise<NodeStore> {
  const warn = ({ path, message }: StoreWarning) => log.report('warn', 'store.repaired', `${path}: ${message}`);
  const store = await openNodeStore({ stateRoot, workspaceId, clock, warn }, placement);
  endings.defer(() => store.close());
  await store.admin.sweep();
  return store;
}

/** Starts the guardian, and only then returns the function that starts children (invariant 2). */
async function openSpawn({ clock, endings, environment }: Starting, runTag: ProcessTag, log: StartLog): Promise<Spawn> {
  const warn = (message: string) => log.report('warn', 'guardian', message);
  const guardian = await keepGuardian({ tag: runTag, clock, warn });
  endings.defer(async () => {
    const left = (await guardian.standDown())?.ended.length ?? 0;
    if (left > 0) log.report('warn', 'run.left_over', `Ended ${left} processes that had not ended with the swarm.`);
  });
  return childSpawner({ runTag, guardian, clock, ...(environment === undefined ? {} : { environment }) });
}

/** Makes the folder for messages that are too long for a frame. Contents of an earlier run are removed. */
function makeRunFolder(folder: string, placement: FilePlacement, endings: AsyncDisposableStack): string {
  const path = join(folder, 'run');
  rmSync(path, { recursive: true, force: true });
  endings.defer(() => {
    // If the workspace is lost, the folder with this name may belong to another orchestrator.
    if (!placement.isLost) rmSync(path, { recursive: true, force: true });
  });
  return makeFolder(path);
}

function openChildren({ currentPlan, clock, endings }: Starting, spawn: Spawn, folder: string) {
  const { spares, supervision } = currentPlan.value.settings;
  const children = agentChildren({ spawn, runner: agentRunner, folder, restart: supervision.restart, clock, spares });
  endings.defer(() => children.close());
  return children;
}

/** Stores the record by which commands find the swarm. Never rejects. */
function rememberSwarm({ stateRoot, workspaceId, bundleFolder, currentPlan, endings }: Starting, log: StartLog) {
  const warn = ({ path, message }: StoreWarning) => log.report('warn', 'swarm.not_recorded', `${path} ${message}`);
  const folder = bundleFolder === undefined ? {} : { folder: bundleFolder };
  const written = recordSwarm({ stateRoot, workspaceId, warn }, { swarm: currentPlan.value.plan.name, ...folder });
  endings.defer(() => written);
  return written;
}

/** Reads the operator's settings. Wrong settings are reported, and do not prevent the start. */
async function readTelemetry(
  { environment = process.env, currentPlan }: Starting,
  log: StartLog,
): Promise<SwarmTelemetry | undefined> {
  if (!namesCollector(environment)) return undefined;
  const [{ readTelemetrySettings }, { sampleEvent }] = await Promise.all([
    import('../telemetry/read-telemetry-settings.ts'),
    import('../telemetry/sample-event.ts'),
  ]);
  const { settings, sampler, warnings } = readTelemetrySettings(environment, currentPlan.value.plan.name);
  for (const warning of warnings) log.report('warn', 'telemetry.settings', warning);
  if (settings === undefined || sampler === undefined) return undefined;
  const contents = settings.hasContent ? ', with the contents of messages' : '';
  log.report('info', 'telemetry.on', `Spans are exported to ${showEndpoint(settings.endpoint)}${contents}.`);
  return { settings, sample: (event) => sampleEvent(event, sampler) };
}

interface SwarmPlaces {
  readonly store: NodeStore;
  readonly requests: SwarmDeps['requests'];
  readonly children: ReturnType<typeof agentChildren>;
  readonly telemetry: SwarmTelemetry | undefined;
  readonly keepers: Keepers;
  readonly log: StartLog;
}

function openSwarm(
  { currentPlan, clock, ids, stateRoot, workspaceId, endings }: Starting,
  { store, requests, children, telemetry, keepers, log }: SwarmPlaces,
): SwarmAgents {
  const warn = ({ path, message }: StoreWarning) => log.report('warn', 'layers.not_written', `${path}: ${message}`);
  const descriptions = recordDescriptions({ stateRoot, workspaceId, clock, warn });
  endings.defer(() => descriptions.settled());
  const swarm = new SwarmAgents({
    currentPlan,
    store,
    requests,
    clock,
    ids,
    location: { stateRoot, workspaceId },
    keepers,
    ...(telemetry === undefined ? {} : { telemetry }),
    // A process would create the conversation again, in a folder that was removed or belongs to another orchestrator.
    startChild: (...asked) => (store.placement.check(), children.start(...asked)),
    startShared: (...asked) => (store.placement.check(), children.startShared(...asked)),
    log: (line) => log.write(line),
    described: (agentName, description) =>
      descriptions.record(agentName, { ...description, digest: currentPlan.value.partsDigests.get(agentName) ?? '' }),
  });
  log.handOver(swarm);
  return swarm;
}

function openConnections(starting: Starting, swarm: SwarmAgents, spawn: Spawn, runFolder: string): Connections {
  const { currentPlan, clock, stateRoot, workspaceId } = starting;
  const folder = workspaceFolder(stateRoot, workspaceId);
  return new Connections(currentPlan.value.plan.connections ?? [], {
    spawn,
    clock,
    runner: connectorRunner,
    frameFolderFor: () => join(runFolder, crypto.randomUUID()),
    makeWorkFolder: (connection) => makeFolder(join(folder, 'connections', connection)),
    ingress: {
      entryAgent: () => currentPlan.value.entryAgent,
      newTraceId,
      accept: async (to, event) => void (await swarm.accept(to, event, false)),
      ask: (to, event, options) => askAgent(swarm, to, event, options),
    },
    report: (line) => swarm.log(line),
    onOutput: (connection, output) => swarm.printed({ connection }, output),
    policy: () => {
      const { supervision, heartbeat } = currentPlan.value.settings;
      return { ...supervision, heartbeat };
    },
  });
}

function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}
