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
import type { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../config/check-swarm-plan.ts';
import type { BundleSource, Examine } from '../config/examination.ts';
import type { SwarmPlan } from '../config/swarm-plan.ts';
import { VERSION } from '../config/version.ts';
import { controlSocketPath, systemSocketEnvironment } from '../control/control-socket-path.ts';
import type { Swarm } from '../control/swarm.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { type Ids, randomIds } from '../ports/ids.ts';
import type { LogLine } from '../ports/log-line.ts';
import { checkPlatform } from '../ports/platform.ts';
import type { Spawn } from '../ipc/spawn.ts';
import { type FilePlacement, joinFiles } from '../store/files/file-placement.ts';
import { openNodeStore } from '../store/files/open-node-store.ts';
import type { ClusterStore } from '../store/cluster-store.ts';
import type { SwarmTelemetry } from '../config/telemetry-settings.ts';
import type { NodeStore } from '../store/store.ts';
import { type LoadedAgent, recordDescriptions } from '../workspace/swarms/agent-descriptions.ts';
import type { ChangesetRecovery } from '../workspace/changesets/changesets.ts';
import { workspaceFolder } from '../workspace/layout/instance-paths.ts';
import type { SwarmRun } from '../workspace/swarms/own-workspace.ts';
import type { StoreWarning } from '../workspace/store-ports.ts';
import { recordSwarm } from '../workspace/swarms/swarm-record.ts';
import { agentChildren } from './child/agent-children.ts';
import { reportRecoveries } from './changesets/report-recoveries.ts';
import { serveChangesets } from './changesets/serve-changesets.ts';
import { localSwarm } from './control/local-swarm.ts';
import { serveControl } from './control/serve-control.ts';
import { drainSwarm } from './drain-swarm.ts';
import type { Keepers } from './keepers/keepers.ts';
import { openBundleChanges } from './open-bundle-changes.ts';
import { openKeepers } from './open-keepers.ts';
import { keepGuardian } from './guardian/keep-guardian.ts';
import { describeLeftovers, endLeftovers, type Leftovers } from './guardian/kill-tagged.ts';
import { newTag, type ProcessTag, RUN_VARIABLE } from './guardian/process-tag.ts';
import { CurrentPlan, fileBounds } from './plan/current-plan.ts';
import { copyStates } from './reload/copy-states.ts';
import { processTrials } from './reload/process-trials.ts';
import { swarmReloader } from './reload/reload-swarm.ts';
import { agentRunner } from '../ports/runner-path.ts';
import { childSpawner } from './child/spawn-child.ts';
import { type ClusterOptions, joinCluster, type JoinedCluster } from './start/join-cluster.ts';
import { liveAsNode } from './start/live-as-node.ts';
import { followDeployments, NodeBundle } from './start/node-bundle.ts';
import { findLettered, openClusterSwarm } from './start/open-cluster-swarm.ts';
import { openConnections } from './start/open-connections.ts';
import { readTelemetry } from './start/read-telemetry.ts';
import { openLog, type StartLog } from './start/start-log.ts';
import { Stopping } from './stopping.ts';
import { operatorPolicy } from './plan/operator-policy.ts';
import { describeMissing } from './swarm/instance-moves.ts';
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
  /** Makes this orchestrator one of many nodes, whose conversations are in a shared store. */
  readonly cluster?: ClusterOptions;
  /**
   * Reads plans from a folder with another copy of the bundle, for a node. When absent, the node runs the given plan, and
   * no bundle is deployed.
   */
  readonly bundleAt?: (folder: string) => BundleSource;
  /** See `SwarmStatus`. */
  readonly oneShot?: true;
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
 * **Errors** — `E_PLATFORM`, `E_SWARM_PLAN`, `E_SWARM_RUNNING`, `E_PROCESS_START`, `E_CONTROL_PATH`, those of the disk. For
 * a node also those of `joinCluster` and `NodeBundle.settle`.
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

async function start(given: Starting): Promise<Swarm> {
  const { clock, ids, endings, workspaceId, oneShot } = given;
  const { name } = given.currentPlan.value.plan;
  const startedAt = clock.now().toISOString();
  const folder = workspaceFolder(given.stateRoot, workspaceId);
  const controlSocket = controlSocketPath(folder, workspaceId, systemSocketEnvironment());
  const runTag = newTag(RUN_VARIABLE);

  const { placement, leftOver } = await takeWorkspace(given, { swarm: name, runTag, controlSocket });
  // Disposed just before the workspace is free.
  const lastEndings = endings.use(new DisposableStack());
  const log = openLog(given);
  for (const message of describeLeftovers(leftOver)) log.report('warn', 'run.left_over', message);
  reportRecoveries(given.recoveries ?? [], (...line) => log.report(...line));

  // A node reads its plan after it has joined.
  let planNow = given.currentPlan;
  const bounds = fileBounds(() => planNow.value);
  const joined = given.cluster && (await joinCluster({ ...given, ...bounds, cluster: given.cluster, folder, log }));
  const warnOfBundle = (message: string) => log.report('warn', 'deploy.other', message);
  const bundle = await openNodeBundle(given, joined?.store, folder, warnOfBundle);
  const starting = bundle === undefined ? given : await readNodePlan(given, bundle);
  const { currentPlan } = starting;
  planNow = currentPlan;
  const isRecorded = rememberSwarm(starting, log, joined?.store);
  const store = joined?.store ?? (await openStore(starting, placement, log));
  const spawn = await openSpawn(starting, runTag, log);
  const runFolder = makeRunFolder(folder, placement, endings);
  const children = openChildren(starting, spawn, runFolder);
  const telemetry = await readTelemetry(name, starting.environment ?? process.env, log);
  const keepers = openKeepers(runFolder, { spawn, clock, currentPlan, log: (line) => log.tell(line) });
  const swarm = openSwarm(starting, {
    store,
    cluster: joined,
    local: placement,
    requests: await store.questions.list(),
    children,
    telemetry,
    keepers,
    log,
  });
  const connections = openConnections(starting, {
    ...{ swarm, spawn, runFolder, leases: joined?.store.connections, uploads: store.blobs },
    // Called when the whole swarm is open.
    askElsewhere: (...asked) => handle.ask(...asked),
  });

  const { instances } = swarm;
  const trials = processTrials({
    spawn,
    clock,
    folder: runFolder,
    swarm,
    startChild: (agent, request) => children.start(agent, request),
    statesOf: (agent) => copyStates(agent, { instances, store, report: (...line) => swarm.report(...line) }),
  });
  const { source, findUndo, readPlan } = openBundleChanges(starting, swarm, bundle);
  const reloader = swarmReloader({ currentPlan, swarm, connections, trials, clock, findUndo }, readPlan);
  const changesets = serveChangesets({ currentPlan, swarm, reloader, clock }, source);
  if (bundle !== undefined && joined !== undefined) {
    const reload = () => reloader.reload();
    const alone = (work: () => Promise<void>) => reloader.onRoad(work);
    const report = (...line: Parameters<StartLog['report']>) => log.report(...line);
    endings.defer(followDeployments({ bundle, deployments: joined.store.deployments, reload, alone, report }));
  }

  const stopping = new Stopping(async (graceMs, hurry, isHandover) => {
    await Promise.all([reloader.close(), changesets.close()]);
    const lost = joined && stopping.failure;
    await drainSwarm({ clock, swarm, connections, keepers }, graceMs, hurry, lost, isHandover);
    swarm.report('info', 'swarm.stopped', `Swarm "${name}" is stopped.`);
    await endings.disposeAsync().catch(() => undefined);
    // Closed last: a client that stopped the swarm over the socket gets its answer when the workspace is free.
    await Promise.all([server.close(), joined?.port.close()]);
  });
  const own = { swarm: name, workspaceId, pid: process.pid, startedAt, version: VERSION, ...(oneShot && { oneShot }) };
  const local = localSwarm({
    swarm,
    store,
    ...(joined && { findLettered: () => findLettered(joined.store, currentPlan.value.names) }),
    clock,
    ids,
    entryAgent: () => currentPlan.value.entryAgent,
    graceMs: () => currentPlan.value.settings.graceMs,
    describe: () => ({
      ...own,
      connections: connections.status(),
      ...keepers.describe(),
      ...describeMissing(currentPlan.value.plan),
      ...(reloader.reports.length === 0 ? {} : { changes: reloader.reports }),
    }),
    reload: () => reloader.reload(),
    stopped: stopping.stopped,
    failure: () => stopping.failure,
    stop: (graceMs, isHandover) => stopping.stop(graceMs, isHandover),
  });

  const handle = joined === undefined ? local : openClusterSwarm(starting, joined, swarm, local);

  children.warmUp();
  await swarm.wake();
  await isRecorded;
  const report = (error: unknown, what: string) => log.report('error', 'control.failed', `${what}: ${String(error)}`);
  const server = await serveControl(handle, { path: controlSocket, clock, fileBytes: bounds.fileBytes, report });
  // The next owner of the workspace listens at the same path.
  lastEndings.defer(() => server.leave());
  connections.start();
  placement.onLost((error) => {
    log.report('error', 'workspace.lost', `${error.message} The swarm ends.`);
    stopping.fail(error);
  });
  if (joined !== undefined) {
    const { store: shared } = joined;
    joined.serve({ swarm: handle, local, tokens: shared.tokens });
    const graceMs = () => currentPlan.value.settings.graceMs;
    const fail = (error: GoondanError) => stopping.fail(error);
    liveAsNode({ placement: shared.placement, swarm, connections, graceMs, fail });
  }
  log.report('info', 'swarm.started', `Swarm "${name}" runs with the agents ${swarm.agents.join(', ')}.`);
  return handle;
}

/** Takes the workspace and ends remaining processes of earlier runs. */
async function takeWorkspace(
  { stateRoot, workspaceId, clock, endings, flock = true }: Starting,
  run: SwarmRun,
): Promise<{ readonly placement: FilePlacement; readonly leftOver: Leftovers }> {
  const placement = await joinFiles({ stateRoot, workspaceId, clock, ...(flock ? {} : { flock }) }, run);
  endings.defer(() => placement.leave());
  return { placement, leftOver: await endLeftovers(placement.broken, clock) };
}

/** Opens the bundle of a node; absent for a swarm on files, or one that was not started from a bundle. */
async function openNodeBundle(
  { bundleAt, bundleFolder: startFolder, cluster, stateRoot }: Starting,
  store: ClusterStore | undefined,
  folder: string,
  warn: (message: string) => void,
): Promise<NodeBundle | undefined> {
  if (store === undefined || bundleAt === undefined || startFolder === undefined) return undefined;
  const { deployments, placement } = store;
  const { keptOut = {}, token = '' } = cluster ?? {};
  const bundle = new NodeBundle({
    deployments,
    placement,
    startFolder,
    folder: join(folder, 'bundle'),
    keptOut: { paths: [stateRoot, ...(keptOut.paths ?? [])], secrets: [token, ...(keptOut.secrets ?? [])] },
    warn,
  });
  await bundle.settle();
  return bundle;
}

/** Replaces the plan by that of the node's own copy of the bundle. */
async function readNodePlan(given: Starting, bundle: NodeBundle): Promise<Starting> {
  const { environment = process.env, bundleAt } = given;
  const source = bundleAt?.(bundle.folder);
  if (source === undefined) return given;
  const plan = checkSwarmPlan(await source.readPlan());
  const currentPlan = new CurrentPlan(plan, operatorPolicy(environment));
  return { ...given, ...source, currentPlan, bundleFolder: bundle.folder };
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
async function openSpawn(given: Starting, runTag: ProcessTag, log: StartLog): Promise<Spawn> {
  const { clock, endings, environment, stateRoot } = given;
  const warn = (message: string) => log.report('warn', 'guardian', message);
  const guardian = await keepGuardian({ tag: runTag, clock, warn });
  endings.defer(async () => {
    const left = (await guardian.standDown())?.ended.length ?? 0;
    if (left > 0) log.report('warn', 'run.left_over', `Ended ${left} processes that had not ended with the swarm.`);
  });
  return childSpawner({ runTag, guardian, clock, stateRoot, ...(environment && { environment }) });
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
function rememberSwarm(
  { stateRoot, workspaceId, bundleFolder, currentPlan, endings }: Starting,
  log: StartLog,
  cluster: ClusterStore | undefined,
) {
  const warn = ({ path, message }: StoreWarning) => log.report('warn', 'swarm.not_recorded', `${path} ${message}`);
  const facts = { swarm: currentPlan.value.plan.name, ...(bundleFolder === undefined ? {} : { folder: bundleFolder }) };
  const written = cluster?.describeSwarm(facts) ?? recordSwarm({ stateRoot, workspaceId, warn }, facts);
  endings.defer(() => written);
  return written;
}

interface SwarmPlaces {
  readonly store: NodeStore;
  readonly cluster: JoinedCluster | undefined;
  /** The place of this process among those of this machine. */
  readonly local: FilePlacement;
  readonly requests: SwarmDeps['requests'];
  readonly children: ReturnType<typeof agentChildren>;
  readonly telemetry: SwarmTelemetry | undefined;
  readonly keepers: Keepers;
  readonly log: StartLog;
}

function openSwarm(
  { currentPlan, clock, ids, stateRoot, workspaceId, endings }: Starting,
  { store, cluster, local, requests, children, telemetry, keepers, log }: SwarmPlaces,
): SwarmAgents {
  const warn = ({ path, message }: StoreWarning) => log.report('warn', 'layers.not_written', `${path}: ${message}`);
  const descriptions = recordDescriptions({ stateRoot, workspaceId, clock, warn });
  endings.defer(() => descriptions.settled());
  const describe = (agentName: string, loaded: LoadedAgent) => {
    if (cluster === undefined) return descriptions.record(agentName, loaded);
    return void cluster.store.describeAgent(agentName, { ...loaded, recordedAt: clock.now().toISOString() });
  };
  const swarm = new SwarmAgents({
    currentPlan,
    store,
    requests,
    clock,
    ids,
    location: { stateRoot, workspaceId },
    keepers,
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(cluster === undefined ? {} : { cluster: cluster.store, served: cluster.served }),
    // A process would create its folders again, which were removed or belong to another orchestrator.
    startChild: (...asked) => (local.check(), children.start(...asked)),
    startShared: (...asked) => (local.check(), children.startShared(...asked)),
    log: (line) => log.write(line),
    described: (agentName, description) =>
      describe(agentName, { ...description, digest: currentPlan.value.partsDigests.get(agentName) ?? '' }),
  });
  log.handOver(swarm);
  return swarm;
}

function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}
