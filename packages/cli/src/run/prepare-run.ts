/** Prepares and starts a run. The preparation runs no code of the bundle. */
import { type Bundle, type BundleProblem, type ResolvedSwarm, resolveSwarm } from '@goondan/runtime/bundle';
import { bundleSource, gracePeriodMs, startHere, workspaceFolder } from '@goondan/runtime/internal';
import { openBundle } from '../bundle/open-bundle.ts';
import type { BundleOptions } from '../common-options.ts';
import { type IsReported, printLogLine } from '../print-log-line.ts';
import { checkStateRootWritable, readableStateRoot } from '../state-root.ts';
import { findWorkspace } from '../swarm/find-workspace.ts';
import type { Terminal } from '../terminal.ts';
import { checkTrust } from '../trust/check-trust.ts';

export interface RunRequest extends BundleOptions {
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
}

export interface PreparedRun extends Omit<RunRequest, 'bundle'> {
  readonly bundle: Bundle;
  readonly stateRoot: string;
  readonly swarmName: string;
  readonly workspaceId: string;
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
  const { swarm: swarmName, workspaceId } = findWorkspace(bundle, request.swarm);
  const workspace = workspaceFolder(root, workspaceId);
  return { ...request, bundle, stateRoot: root, swarmName, workspaceId, workspace };
}

/**
 * Starts the swarm in this process, after checking that it may start. Prints warnings and errors of the log, except
 * lines that the command itself reports (`isReported`). The `graceMs` of the result is how long to wait until all
 * instances are idle.
 *
 * **Errors** — those of `resolveTrustedPlan` and `startHere`.
 */
export async function startRun(run: PreparedRun, terminal: Terminal, signal?: AbortSignal, isReported?: IsReported) {
  const { plan, workspace } = await resolveTrustedPlan(run, terminal, signal);
  const entryAgent = plan.entryAgent ?? plan.agents[0]?.agentName;
  const control = await startHere({
    ...plan,
    stateRoot: run.stateRoot,
    bundleFolder: run.bundle.folder,
    ...bundleSource(folderOf(run), run),
    onLog: (line) => printLogLine(line, terminal, isReported && ((each) => isReported(each, entryAgent))),
    ...(workspace === undefined ? {} : { workspace }),
    ...(run.flock === undefined ? {} : { flock: run.flock }),
  });
  return { control, graceMs: gracePeriodMs(plan) };
}

function folderOf({ bundle, swarmName, workdir, connections = true }: PreparedRun) {
  return { bundleFolder: bundle.folder, swarm: swarmName, workdir, connections };
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
  // Resolved first, so that nobody is asked to trust a bundle that cannot run.
  const resolved = resolveSwarm(bundle, { swarm, environment: process.env, workdir, mayMiss, connections });
  checkStateRootWritable(root);
  const question = { stateRoot: root, folder: bundle.folder, trust };
  await checkTrust(signal === undefined ? question : { ...question, signal }, terminal);
  return resolved;
}
