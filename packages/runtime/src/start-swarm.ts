/** Starts from code the same swarm that `gdn run` starts from a bundle. */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import type { SwarmPlan } from './config/swarm-plan.ts';
import type { Swarm } from './control/swarm.ts';
import { defined } from './json/defined.ts';
import { startOrchestrator } from './orchestrator/start-orchestrator.ts';
import type { LogLine } from './ports/log-line.ts';
import { stateRoot } from './workspace/layout/state-root.ts';
import { workspaceId } from './workspace/layout/workspace-id.ts';

export interface StartSwarmOptions extends SwarmPlan {
  /** Reads the plan again, for `reload()`; if it throws, nothing changes. */
  readonly readPlan?: () => Promise<SwarmPlan>;
  /** The folder of all workspaces; `GOONDAN_STATE_ROOT`, else `~/.goondan`, when absent. */
  readonly stateRoot?: string;
  /** The name of the workspace; swarms with the same one share their conversations. */
  readonly workspace?: string;
  /**
   * The folder of the bundle, so that two bundles never share a workspace by chance. The current folder when absent.
   */
  readonly bundleFolder?: string;
  /**
   * False skips the lock of `workspace.lock`, for file systems without `flock`. Use it only where no other machine and
   * no other container can start this swarm.
   */
  readonly flock?: boolean;
  /** Receives every log line; the workspace's `logs` folder has them too. Must not throw. */
  readonly onLog?: (line: LogLine) => void;
}

/**
 * Starts a swarm: this process becomes its orchestrator, and each agent instance gets a process of its own.
 *
 * **Rules** — earlier accepted input is handled first. `stop()` ends the swarm. When this process ends in any other way,
 * all its processes end within two seconds, and their work continues at the next start.
 * **Errors** — `E_PLATFORM`, `E_SWARM_PLAN`, `E_SWARM_RUNNING` (another process runs this workspace), `E_PROCESS_START`,
 * those of the disk.
 *
 * @example
 * const swarm = await startSwarm({ name: 'shop', agents: [{ agentName: 'clerk', models }] });
 * const { result } = await swarm.ask({ input: 'Hello' });
 * await swarm.stop();
 */
export function startSwarm(options: StartSwarmOptions): Promise<Swarm> {
  const { stateRoot: root, workspace, bundleFolder = process.cwd(), onLog, readPlan, flock, ...plan } = options;
  const environment = process.env.GOONDAN_STATE_ROOT;
  const bundleRealPath = realpathSync(bundleFolder);
  return startOrchestrator({
    plan,
    stateRoot: stateRoot(defined({ home: homedir(), option: root, environment })),
    workspaceId: workspaceId(defined({ swarmName: plan.name, bundleRealPath, workspace })),
    bundleFolder: bundleRealPath,
    ...defined({ flock, onLog, readPlan }),
  });
}
