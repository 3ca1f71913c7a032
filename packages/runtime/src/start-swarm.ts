/**
 * Starts a swarm from code, as `gdn run` starts it from a bundle. In Bun, this process becomes the orchestrator. In
 * Node, a Bun process beside this one becomes the orchestrator, and the returned handle talks to it over the control
 * socket, like the handle of `connectSwarm`.
 */
import { homedir } from 'node:os';
import { GoondanError } from '@goondan/types';
import type { SwarmPlan } from './config/swarm-plan.ts';
import type { Swarm, SwarmWith } from './control/swarm.ts';
import type { WithOutputs } from './define-swarm.ts';
import { defined } from './json/defined.ts';
import { isBun } from './ports/is-bun.ts';
import type { LogLine } from './ports/log-line.ts';
import { stateRoot } from './workspace/layout/state-root.ts';

/** A folder or a plan, and the settings of the run. */
export type StartSwarmOptions = (
  | {
      /** The folder of `goondan.yaml`, which `reload()` reads again. */
      readonly bundleFolder: string;
      /** The name of the swarm. Optional when the folder declares only one swarm, or a swarm called `default`. */
      readonly swarm?: string;
      /** The working folder of tools, for agents that do not name one; `bundleFolder` when absent. */
      readonly workdir?: string;
    }
  | (SwarmPlan & {
      /**
       * Reads the plan again, for `reload()`. If this function throws, nothing changes. In Node, `startSwarm` rejects
       * this option with `E_NEEDS_BUN`.
       */
      readonly readPlan?: () => Promise<SwarmPlan>;
      /** The name of the workspace; swarms with the same name share their conversations. */
      readonly workspace?: string;
      /**
       * The folder of the bundle; the current folder when absent. Without `workspace`, the id of the workspace depends
       * on this folder, so two bundles do not share a workspace by chance.
       */
      readonly bundleFolder?: string;
    })
) & {
  /** The folder of all workspaces; when absent, `GOONDAN_STATE_ROOT`, or else `~/.goondan`. */
  readonly stateRoot?: string;
  /**
   * Set to false to skip the lock of `workspace.lock`, for file systems without `flock`. Do this only where no other
   * machine and no other container can start this swarm.
   */
  readonly flock?: boolean;
  /** Receives every log line; the workspace's `logs` folder has the same lines. Must not throw. */
  readonly onLog?: (line: LogLine) => void;
};

export type PlanToStart = Extract<StartSwarmOptions, SwarmPlan>;

/**
 * Starts a swarm. Each agent instance gets its own process. The bundle's code runs without a question about trust,
 * because the calling program has decided to trust it.
 *
 * **Rules** — input accepted earlier is handled first. `stop()` ends the swarm. If this process ends without `stop()`,
 * all its child processes end within two seconds, and their work continues at the next start.
 * **Errors** — `E_PLATFORM`, `E_SWARM_PLAN`, `E_SWARM_RUNNING` (another process runs this workspace),
 * `E_PROCESS_START`, those of the disk. For a folder also those of `loadBundle` and `resolveSwarm`; in Node also
 * `E_NEEDS_BUN`, `E_BUN_MISSING`.
 *
 * @example
 * const swarm = await startSwarm({ bundleFolder: 'my-swarm' });
 * const { result } = await swarm.ask({ input: 'Hello' });
 * await swarm.stop();
 */
export async function startSwarm<Outputs = unknown>(
  options: StartSwarmOptions & WithOutputs<Outputs>,
): Promise<SwarmWith<Outputs>> {
  checkOptions(options);
  const swarm: Swarm = isBun
    ? await (await import('./start-here.ts')).startHere(options)
    : await (await import('./start-beside.ts')).startBeside(options);
  // Safe: the agents check their answers against the schemas from which `defineSwarm` took the types.
  return swarm as SwarmWith<Outputs>;
}

/** Returns the state root of `startSwarm` as an absolute path. */
export function chooseStateRoot(option: string | undefined): string {
  return stateRoot(defined({ home: homedir(), option, environment: process.env.GOONDAN_STATE_ROOT }));
}

/** Checks the options, because a program in JavaScript may pass anything. */
function checkOptions(options: unknown): asserts options is StartSwarmOptions {
  const given: object = typeof options === 'object' && options !== null ? options : {};
  for (const [name, type] of [
    ['onLog', 'function'],
    ['readPlan', 'function'],
    ['stateRoot', 'string'],
    ['swarm', 'string'],
    ['workdir', 'string'],
    ['flock', 'boolean'],
  ] as const) {
    const value: unknown = Reflect.get(given, name);
    if (value === undefined || typeof value === type) continue;
    throw new GoondanError('E_SWARM_PLAN', `${name} of startSwarm must be a ${type}, not ${typeof value}.`);
  }
  if ('agents' in given || ('bundleFolder' in given && typeof given.bundleFolder === 'string' && !('plan' in given))) {
    return;
  }
  const suggestion =
    'plan' in given
      ? 'Pass the plan that it contains: `startSwarm({ ...resolved.plan, bundleFolder })`, or the folder alone: `startSwarm({ bundleFolder })`.'
      : 'Pass `{ bundleFolder }` with the folder of `goondan.yaml`, or a plan with `name` and `agents`.';
  throw new GoondanError('E_SWARM_PLAN', `startSwarm needs a folder or a plan, and got ${describe(given)}.`, {
    suggestion,
  });
}

function describe(given: object): string {
  const keys = Object.keys(given);
  return keys.length === 0 ? 'neither' : `only ${keys.map((key) => `"${key}"`).join(', ')}`;
}
