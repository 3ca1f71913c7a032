/**
 * One agent in a process of its own, beside any swarm: to see what it is made of, to try it, to replay a turn. Nothing of
 * the workspace is touched; it lives in a temporary folder. The modules of its extensions do run.
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
import type { ChildOutput, Spawn } from '../../ipc/spawn.ts';
import { type AgentChild, agentChildren } from '../child/agent-children.ts';
import { maskOutput } from '../child/child-output.ts';
import { keepGuardian } from '../guardian/keep-guardian.ts';
import { newTag, RUN_VARIABLE } from '../guardian/process-tag.ts';
import { agentRunner } from '../child/runner-path.ts';
import { childSpawner } from '../child/spawn-child.ts';
import { swarmSettings } from '../plan/swarm-settings.ts';
import { awaitAnswer } from '../supervision/await-answer.ts';
import type { RunningProcess } from '../supervision/supervise-process.ts';

export interface LoneAgentOptions {
  readonly plan: SwarmPlan;
  /** Need not be one of the plan's. */
  readonly agent: DeclaredAgent;
  readonly start?: Pick<AgentStart, 'address' | 'replay'>;
  /** Ends it early, `E_CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** How long it may take; what is usual for a start when absent. */
  readonly timeoutMs?: number;
  /** The run of a swarm that runs already; a run of its own, with a guardian, when absent. */
  readonly deps?: LoneAgentDeps;
}

export interface LoneAgentDeps {
  readonly spawn: Spawn;
  /** Where its temporary folder is made. It exists. */
  readonly folder: string;
  /** Hears what it prints. Must not throw. */
  readonly onOutput: (output: ChildOutput) => void;
}

/**
 * Gives what `hear` makes of its messages; then it is ended.
 *
 * **Errors** — those of `awaitAnswer`, and those with which it fails to start.
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
  const mask = maskSecrets(secrets);
  const endings = new AsyncDisposableStack();
  try {
    const folder = mkdtempSync(join(options.deps?.folder ?? tmpdir(), 'goondan-agent-'));
    endings.defer(() => rmSync(folder, { recursive: true, force: true }));
    const cwd = join(folder, 'cwd');
    const stateRoot = join(folder, 'state');
    mkdirSync(stateRoot, { mode: 0o700 });
    const { spawn, onOutput } = options.deps ?? (await openRun(folder, clock, endings));
    const children = agentChildren({ spawn, runner: agentRunner, folder, restart, clock, spares: 0 });
    const child = children.start(agent, { name, cwd, onOutput: (output) => onOutput(maskOutput(output, mask)) });
    endings.defer(async () => void (await child.kill(0)));
    return await awaitAnswer<Value, ToAgent, FromAgent>(
      child,
      {
        address: { agentName, instanceKey: 'default' },
        agent,
        agents: plan.agents.map(({ agentName: other, description }) =>
          description === undefined ? { name: other } : { name: other, description },
        ),
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

async function openRun(folder: string, clock: Clock, endings: AsyncDisposableStack): Promise<LoneAgentDeps> {
  const runTag = newTag(RUN_VARIABLE);
  const guardian = await keepGuardian({ tag: runTag, clock, warn: () => undefined });
  endings.defer(async () => void (await guardian.standDown()));
  return { spawn: childSpawner({ runTag, guardian, clock }), folder, onOutput: () => undefined };
}
