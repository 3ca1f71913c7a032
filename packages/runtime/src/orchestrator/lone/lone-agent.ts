/**
 * Runs one agent in a separate process, without a swarm: to list its parts, to test it, or to replay a turn. It uses a
 * temporary folder and does not change the workspace. But the modules of its extensions do run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentStart } from '../../config/agent-start.ts';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import { type Clock, systemClock } from '../../ports/clock.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { type AgentChild, agentChildren, type AgentChildrenDeps } from '../child/agent-children.ts';
import { maskOutput } from '../child/child-output.ts';
import { keepGuardian } from '../guardian/keep-guardian.ts';
import { newTag, RUN_VARIABLE } from '../guardian/process-tag.ts';
import { agentRunner } from '../../ports/runner-path.ts';
import { childSpawner } from '../child/spawn-child.ts';
import { cardsFor, connectionsByAgent } from '../plan/current-plan.ts';
import { swarmSettings } from '../plan/swarm-settings.ts';
import { awaitAnswer } from '../supervision/await-answer.ts';
import type { RunningProcess } from '../supervision/supervise-process.ts';

export interface LoneAgentOptions {
  readonly plan: SwarmPlan;
  /** The agent; it need not be in the plan. */
  readonly agent: DeclaredAgent;
  readonly start?: Partial<Pick<AgentStart, 'address' | 'changes' | 'masked' | 'replay' | 'states'>>;
  /** Aborting it ends the process early, with `E_CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** The time limit for the answer of the process. When absent: the time limit for starting an agent. */
  readonly timeoutMs?: number;
  /**
   * The run of a running swarm, to which the process belongs. When absent, the process gets a run of its own, with a
   * guardian.
   */
  readonly deps?: {
    /** Starts the process, or takes a spare. */
    readonly startChild: ReturnType<typeof agentChildren>['start'];
    /** An existing folder, in which a temporary folder is created. */
    readonly folder: string;
    /** Receives the output of the process. Must not throw. */
    readonly onOutput: (output: ChildOutput) => void;
  };
}

/**
 * Resolves with the first value that `hear` returns for a message, and then ends the process.
 *
 * **Errors** — those of `awaitAnswer`, and those with which the agent fails to start.
 */
export async function runLoneAgent<Value>(
  options: LoneAgentOptions,
  hear: (message: FromAgent, process: RunningProcess<ToAgent>, child: AgentChild) => Value | Promise<Value> | undefined,
): Promise<Value> {
  const { plan, agent, start, signal, clock = systemClock } = options;
  const { agentName, secrets = [] } = agent;
  const { heartbeat, supervision } = swarmSettings(plan);
  const { restart, startTimeoutMs } = supervision;
  const name = `agent ${agentName}`;
  const mask = maskSecrets([...secrets, ...(start?.masked ?? [])]);
  const endings = new AsyncDisposableStack();
  try {
    const folder = mkdtempSync(join(options.deps?.folder ?? tmpdir(), 'goondan-agent-'));
    endings.defer(() => rmSync(folder, { recursive: true, force: true }));
    const cwd = join(folder, 'cwd');
    const stateRoot = join(folder, 'state');
    mkdirSync(workspaceFolder(stateRoot, 'alone'), { recursive: true, mode: 0o700 });
    const { startChild, onOutput } = options.deps ?? (await openRun({ clock, folder, restart }, endings));
    const child = startChild(agent, { name, cwd, onOutput: (output) => onOutput(maskOutput(output, mask)) });
    endings.defer(async () => void (await child.kill(0)));
    return await awaitAnswer<Value, ToAgent, FromAgent>(
      child,
      {
        address: { agentName, instanceKey: 'default' },
        agent,
        agents: cardsFor(plan, agent),
        connections: connectionsByAgent(plan).get(agentName) ?? [],
        store: { stateRoot, workspaceId: 'alone' },
        cwd,
        isNew: true,
        ...start,
      },
      { name, clock, heartbeat, timeoutMs: options.timeoutMs ?? startTimeoutMs, signal, mask },
      (message, process) => {
        if (message.type === 'start.failed') throw fromFrameError(message.error);
        return hear(message, process, child);
      },
    );
  } finally {
    await endings.disposeAsync().catch(() => undefined);
  }
}

async function openRun(
  { clock, folder, restart }: Pick<AgentChildrenDeps, 'clock' | 'folder' | 'restart'>,
  endings: AsyncDisposableStack,
) {
  const runTag = newTag(RUN_VARIABLE);
  const guardian = await keepGuardian({ tag: runTag, clock, warn: () => undefined });
  endings.defer(async () => void (await guardian.standDown()));
  const spawn = childSpawner({ runTag, guardian, clock });
  const children = agentChildren({ spawn, runner: agentRunner, folder, restart, clock, spares: 0 });
  return { startChild: children.start.bind(children), onOutput: () => undefined };
}
