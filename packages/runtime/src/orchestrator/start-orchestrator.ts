/**
 * Starts the orchestrator of one workspace, in this process: what it owns, in the order in which it is needed, and ended
 * in the opposite one.
 *
 * Invariants:
 * 1. One orchestrator for each workspace; what an earlier one left running is ended before anything is started.
 * 2. The guardian watches before the first child is there: nothing survives this process, however it ends.
 * 3. What was accepted before is handled before anything new is.
 * 4. No code of the bundle runs here.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../config/check-swarm-plan.ts';
import type { SwarmPlan } from '../config/swarm-plan.ts';
import { VERSION } from '../config/version.ts';
import { controlSocketPath, systemSocketEnvironment } from '../control/control-socket-path.ts';
import type { SwarmControl } from '../control/swarm-control.ts';
import { maskSecrets } from '../log/mask-secrets.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { type Ids, randomIds } from '../ports/ids.ts';
import type { LogLine } from '../ports/log-line.ts';
import { newTraceId } from '../trace/span-id.ts';
import { durableStore } from '../workspace/durable-store.ts';
import { workspaceFolder } from '../workspace/layout/instance-paths.ts';
import { openSwarmLog } from '../workspace/logs/open-swarm-log.ts';
import { ownWorkspace } from '../workspace/own-workspace.ts';
import { agentChildren } from './agent-children.ts';
import { Connections } from './connections/connections.ts';
import { localControl } from './control/local-control.ts';
import { serveControl } from './control/serve-control.ts';
import { endLeftovers } from './guardian/end-leftovers.ts';
import { keepGuardian } from './guardian/keep-guardian.ts';
import { newTag, RUN_VARIABLE } from './guardian/process-tag.ts';
import { agentRunner, connectorRunner } from './runner-path.ts';
import { childSpawner } from './spawn-child.ts';
import { Swarm } from './swarm.ts';
import { swarmSettings } from './swarm-settings.ts';

export interface OrchestratorOptions {
  readonly plan: SwarmPlan;
  readonly stateRoot: string;
  readonly workspaceId: string;
  /** Hears every log line, besides the files. Must not throw. */
  readonly onLog?: (line: LogLine) => void;
  /** The operator's environment, from which children get what is on the list; this process's own when absent. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** Resolves when the swarm takes input. **Errors** — `E_SWARM_PLAN`, `E_SWARM_RUNNING`, `E_PROCESS_START`, those of the disk. */
export async function startOrchestrator(options: OrchestratorOptions): Promise<SwarmControl> {
  const endings: (() => unknown)[] = [];
  // What was started is ended in the opposite order, whether the swarm was stopped or never came up.
  const endAll = async () => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await Promise.try(end).catch(() => undefined);
  };
  try {
    return await start(options, (end) => void endings.push(end), endAll);
  } catch (error) {
    await endAll();
    throw error;
  }
}

async function start(
  {
    stateRoot,
    workspaceId,
    onLog = () => undefined,
    clock = systemClock,
    ids = randomIds,
    ...options
  }: OrchestratorOptions,
  atEnd: (end: () => unknown) => void,
  endAll: () => Promise<void>,
): Promise<SwarmControl> {
  const plan = checkSwarmPlan(options.plan);
  const settings = swarmSettings(plan);
  const entryAgent = plan.entryAgent ?? plan.agents[0]?.agentName ?? '';
  const runTag = newTag(RUN_VARIABLE);
  const startedAt = clock.now().toISOString();

  const folder = workspaceFolder(stateRoot, workspaceId);
  const controlSocket = controlSocketPath(folder, workspaceId, systemSocketEnvironment());

  const owner = await ownWorkspace({ stateRoot, workspaceId, clock }, { swarm: plan.name, runTag, controlSocket });
  atEnd(() => owner.release());
  const leftOver = await endLeftovers(owner, clock);

  const files = openSwarmLog({
    stateRoot,
    workspaceId,
    clock,
    // Not into the log itself, which has just failed.
    warn: ({ path, message }) => void process.stderr.write(`${path} ${message}\n`),
  });
  atEnd(() => files.close());
  const log = (line: LogLine) => {
    files.write(line);
    onLog(line);
  };
  const journal = await durableStore({
    stateRoot,
    workspaceId,
    warn: ({ path, message }) => swarm.report('warn', 'store.repaired', `${path}: ${message}`),
  });
  atEnd(() => journal.close());

  const guardian = await keepGuardian({
    tag: runTag,
    clock,
    warn: (message) => swarm.report('warn', 'guardian', message),
  });
  atEnd(async () => {
    const left = (await guardian.standDown())?.ended.length ?? 0;
    if (left > 0) swarm.report('warn', 'run.left_over', `Ended ${left} processes that had not ended with the swarm.`);
  });
  const environment = options.environment === undefined ? {} : { environment: options.environment };
  const spawn = childSpawner({ runTag, guardian, clock, ...environment });
  const runFolder = freshFolder(join(folder, 'run'));
  atEnd(() => rmSync(runFolder, { recursive: true, force: true }));
  const { restart } = settings.supervision;
  const children = agentChildren({
    spawn,
    runner: agentRunner,
    folder: runFolder,
    restart,
    clock,
    spares: settings.spares,
  });
  atEnd(() => children.close());

  const masks = new Map(plan.agents.map(({ agentName, secrets = [] }) => [agentName, maskSecrets(secrets)]));
  const swarm = new Swarm({
    plan,
    settings,
    journal,
    clock,
    store: { stateRoot, workspaceId },
    startChild: (agent, request) => children.start(agent, request),
    log,
    maskFor: (agentName) => masks.get(agentName) ?? ((text) => text),
  });
  if (leftOver > 0) swarm.report('warn', 'run.left_over', `Ended ${leftOver} processes of the run before this one.`);
  const connections = new Connections({
    plans: plan.connections ?? [],
    ports: {
      spawn,
      clock,
      runner: connectorRunner,
      frameFolderFor: () => join(runFolder, crypto.randomUUID()),
      makeWorkFolder: (connection) => makeFolder(join(folder, 'connections', connection)),
    },
    ingress: { entryAgent, newTraceId, accept: async (to, event) => void (await swarm.accept(to, event, false)) },
    listeners: {
      report: (line) => swarm.log(line),
      onOutput: (connection, output) => swarm.printed({ connection }, output),
    },
    policy: { restart, heartbeat: settings.heartbeat, startTimeoutMs: settings.supervision.startTimeoutMs },
  });

  const stopped = Promise.withResolvers<void>();
  const hurry = new AbortController();
  let stopping: Promise<void> | undefined;
  const control = localControl({
    swarm,
    journal,
    clock,
    ids,
    entryAgent,
    graceMs: settings.graceMs,
    describe: () => ({
      swarm: plan.name,
      workspaceId,
      pid: process.pid,
      startedAt,
      version: VERSION,
      connections: connections.status(),
    }),
    stopped: stopped.promise,
    stop(graceMs) {
      if (stopping !== undefined) hurry.abort();
      stopping ??= stopAll(graceMs).finally(stopped.resolve);
      return stopping;
    },
  });
  children.warmUp();
  await swarm.wake();
  const report = (error: unknown, what: string) => swarm.report('error', 'control.failed', `${what}: ${String(error)}`);
  const server = await serveControl(control, { path: controlSocket, clock, report });
  connections.start();
  swarm.report('info', 'swarm.started', `Swarm "${plan.name}" runs with the agents ${swarm.agents.join(', ')}.`);
  return control;

  async function stopAll(graceMs: number): Promise<void> {
    const deadline = clock.elapsed() + graceMs;
    hurry.signal.addEventListener('abort', () => void connections.drain(0), { once: true });
    await connections.drain(graceMs);
    await swarm.drain(Math.max(0, deadline - clock.elapsed()), hurry.signal);
    swarm.waiters.failAll(
      new GoondanError('E_SWARM_STOPPED', 'The swarm was stopped; the turn goes on when it is started again.'),
    );
    swarm.report('info', 'swarm.stopped', `Swarm "${plan.name}" is stopped.`);
    await endAll();
    // Last: whoever asked for the end over the socket is told when the workspace is free.
    await server.close();
  }
}

/** Nothing of an earlier run is in it. */
function freshFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  return makeFolder(path);
}

function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}
