/** Prepares and starts a run. The preparation runs no code of the bundle. */
import { type Bundle, type BundleProblem, type ResolvedSwarm, resolveSwarm } from '@goondan/runtime/bundle';
import {
  bundleSource,
  gracePeriodMs,
  type NodeToStart,
  nodeWorkspaceId,
  startHere,
  workspaceFolder,
} from '@goondan/runtime/internal';
import { defaultNodeName, LEASE, type NodeOptions } from '../cluster/node-options.ts';
import { keptOutOf } from '../cluster/kept-out.ts';
import { operatingToken } from '../cluster/operating-token.ts';
import { openBundle } from '../bundle/open-bundle.ts';
import type { BundleOptions } from '../common-options.ts';
import { type IsReported, printLogLine } from '../print-log-line.ts';
import { checkStateRootWritable, readableStateRoot } from '../state-root.ts';
import { findWorkspace } from '../swarm/find-workspace.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import type { Terminal } from '../terminal.ts';
import { checkTrust } from '../trust/check-trust.ts';
import { type OnWait, replaceOneShots, tellWait } from './replace-one-shot.ts';

export interface RunRequest extends BundleOptions, NodeOptions {
  readonly folder: string;
  /** True if `--trust` was given. */
  readonly trust: boolean;
  /** The working folder of tools, for agents that do not name one. */
  readonly workdir: string;
  /** True if `--watch` was given. */
  readonly watch?: boolean;
  /** If false, connections are not started, and their values are not looked up. */
  readonly connections?: boolean;
  /** False if `--no-flock` was given. */
  readonly flock?: boolean;
  /** True in a request to a detached process that opens the store itself. */
  readonly isNode?: boolean;
}

export interface PreparedRun extends Omit<RunRequest, 'bundle'> {
  readonly bundle: Bundle;
  readonly stateRoot: string;
  readonly swarmName: string;
  readonly workspaceId: string;
  /** The name of the swarm in a store. */
  readonly key: string;
  /** The place of the swarm's conversations. */
  readonly place: SwarmPlace;
  /** The folder of the workspace. */
  readonly workspace: string;
}

/** **Errors** — `E_BUNDLE_MISSING`, `E_BUNDLE_INVALID`, `E_STATE_ROOT`, `E_SWARM_UNKNOWN`. */
export async function prepareRun(request: RunRequest, terminal: Terminal): Promise<PreparedRun> {
  // Ignores missing variables of connections that are not started.
  const isLeftOut = ({ code, resource = '' }: BundleProblem) =>
    request.connections === false && code === 'E_ENV_MISSING' && resource.startsWith('Connection/');
  const bundle = await openBundle(request.folder, terminal, { matters: (warning) => !isLeftOut(warning) });
  const root = readableStateRoot(request);
  const { swarm: swarmName, workspaceId: id, key } = findWorkspace(bundle, request.swarm);
  const { cluster, node = defaultNodeName() } = request;
  const workspaceId = cluster === undefined ? id : nodeWorkspaceId(key, node, cluster.place);
  const workspace = workspaceFolder(root, workspaceId);
  const place = cluster === undefined ? { stateRoot: root, workspaceId } : { cluster, workspaceId: key };
  return { ...request, bundle, stateRoot: root, swarmName, workspaceId, key, place, workspace };
}

export interface StartOptions {
  readonly signal?: AbortSignal;
  /** Log lines that the command itself reports are not printed. */
  readonly isReported?: IsReported;
  /** True if the swarm runs for one input. All others replace such a swarm, see `replaceOneShots`. */
  readonly oneShot?: true;
  /** Prints a line when absent. */
  readonly onWait?: OnWait;
}

/**
 * Starts the swarm in this process, after checking that it may start. Prints warnings and errors of the log. The
 * `graceMs` of the result is how long to wait until all instances are idle.
 *
 * **Errors** — those of `resolveTrustedPlan`, `startHere` and `replaceOneShots`.
 */
export async function startRun(
  run: PreparedRun,
  terminal: Terminal,
  { signal, isReported, oneShot, onWait = tellWait(terminal) }: StartOptions = {},
) {
  const { plan, workspace } = await resolveTrustedPlan(run, terminal, signal);
  const entryAgent = plan.entryAgent ?? plan.agents[0]?.agentName;
  const cluster = await nodeOf(run);
  const start = () =>
    startHere({
      ...plan,
      ...cluster,
      stateRoot: run.stateRoot,
      bundleFolder: run.bundle.folder,
      ...bundleSource(folderOf(run), workspaceOf(run)),
      onLog: (line) => printLogLine(line, terminal, isReported && ((each) => isReported(each, entryAgent))),
      ...(workspace === undefined ? {} : { workspace }),
      ...(run.flock === undefined ? {} : { flock: run.flock }),
      ...(oneShot && { oneShot }),
    });
  const control = await (oneShot === true ? start() : replaceOneShots(run, start, onWait, signal));
  return { control, graceMs: gracePeriodMs(plan) };
}

/** The place in which the plan must stay at a reload. */
function workspaceOf({ stateRoot, workspaceId, cluster, key }: PreparedRun) {
  return cluster === undefined ? { stateRoot, workspaceId } : { stateRoot, swarm: key };
}

/** Returns the options that make the swarm a node; none for a swarm on files. **Errors** — those of `operatingToken`. */
async function nodeOf(run: PreparedRun): Promise<NodeToStart> {
  const { cluster, key, node = defaultNodeName(), listen, tlsCert, tlsKey, lease = LEASE } = run;
  if (cluster === undefined) return {};
  const { token } = await operatingToken(cluster, 'a node');
  const source = (await cluster.open()).source(key, { leaseMs: lease * 1_000 });
  // The node has connections of its own.
  await cluster.close();
  return {
    cluster: {
      source,
      node,
      workspaceId: run.workspaceId,
      token,
      keptOut: keptOutOf(cluster, tlsKey === undefined ? [] : [tlsKey]),
      ...(listen === undefined ? {} : { listen }),
      ...(tlsCert === undefined || tlsKey === undefined
        ? {}
        : { certificate: { certificatePath: tlsCert, keyPath: tlsKey } }),
    },
    bundleAt: (folder) => bundleSource({ ...folderOf(run), bundleFolder: folder }, workspaceOf(run)),
  };
}

function folderOf({ bundle, swarmName, workdir, cluster, connections = true }: PreparedRun) {
  return { bundleFolder: bundle.folder, swarm: swarmName, workdir, connections, isNode: cluster !== undefined };
}

/**
 * Checks that no variable is missing and that the bundle is trusted. For `mayMiss` see `resolveSwarm`.
 *
 * **Errors** — `E_ENV_MISSING`, `E_SWARM_PLAN`, `E_STATE_ROOT`, those of `checkTrust`.
 */
export async function resolveTrustedPlan(
  run: PreparedRun,
  terminal: Terminal,
  signal?: AbortSignal,
  mayMiss = false,
): Promise<ResolvedSwarm> {
  const { bundle, swarmName: swarm, stateRoot: root, trust, workdir, connections = true } = run;
  const isNode = run.cluster !== undefined;
  // Resolved first, so that nobody is asked to trust a bundle that cannot run.
  const resolved = resolveSwarm(bundle, { swarm, environment: process.env, workdir, mayMiss, isNode, connections });
  checkStateRootWritable(root);
  const question = { stateRoot: root, folder: bundle.folder, trust };
  await checkTrust(signal === undefined ? question : { ...question, signal }, terminal);
  return resolved;
}
