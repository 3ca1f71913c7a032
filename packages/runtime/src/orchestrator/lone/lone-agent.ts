/**
 * One agent in a process of its own, beside any swarm: to see what it is made of, to try it, to replay a turn. Nothing of
 * the workspace is touched; it lives in a temporary folder. The modules of its extensions do run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
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
import { type RunningProcess, superviseProcess } from '../supervision/supervise-process.ts';
import { type SwarmSettings, swarmSettings } from '../plan/swarm-settings.ts';

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

export interface LoneAgent {
  readonly process: RunningProcess<ToAgent>;
  readonly child: AgentChild;
}

/**
 * Gives what `hear` makes of its messages; then it is ended.
 *
 * **Errors** — `E_PROCESS_START` (also when nothing came of it in time), `E_CANCELLED`, those with which it fails to start.
 */
export async function runLoneAgent<Value>(
  options: LoneAgentOptions,
  hear: (message: FromAgent, agent: LoneAgent) => Value | Promise<Value> | undefined,
): Promise<Value> {
  const { plan, agent, signal, clock = systemClock } = options;
  const endings = new AsyncDisposableStack();
  try {
    const folder = mkdtempSync(join(options.deps?.folder ?? tmpdir(), 'goondan-agent-'));
    endings.defer(() => rmSync(folder, { recursive: true, force: true }));
    const lone = { agent, folder, settings: swarmSettings(plan), clock };
    const child = startChild(lone, options.deps ?? (await openRun(lone, endings)), endings);
    const { promise, stop } = talkTo(child, lone, options, hear);
    const cancel = () => stop(new GoondanError('E_CANCELLED', `Agent "${agent.agentName}" was ended early.`));
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    return await promise.finally(() => signal?.removeEventListener('abort', cancel));
  } finally {
    await endings.disposeAsync().catch(() => undefined);
  }
}

interface Lone {
  readonly agent: DeclaredAgent;
  readonly folder: string;
  readonly settings: SwarmSettings;
  readonly clock: Clock;
}

async function openRun({ folder, clock }: Lone, endings: AsyncDisposableStack): Promise<LoneAgentDeps> {
  const runTag = newTag(RUN_VARIABLE);
  const guardian = await keepGuardian({ tag: runTag, clock, warn: () => undefined });
  endings.defer(async () => void (await guardian.standDown()));
  return { spawn: childSpawner({ runTag, guardian, clock }), folder, onOutput: () => undefined };
}

function startChild(
  { agent, folder, settings, clock }: Lone,
  { spawn, onOutput }: Pick<LoneAgentDeps, 'spawn' | 'onOutput'>,
  endings: AsyncDisposableStack,
): AgentChild {
  const { restart } = settings.supervision;
  const children = agentChildren({ spawn, runner: agentRunner, folder, restart, clock, spares: 0 });
  const mask = maskSecrets(agent.secrets ?? []);
  const child = children.start(agent, {
    name: `agent ${agent.agentName}`,
    cwd: join(folder, 'cwd'),
    onOutput: (output) => onOutput(maskOutput(output, mask)),
  });
  endings.defer(async () => void (await child.kill(0)));
  return child;
}

function talkTo<Value>(
  child: AgentChild,
  { agent, folder, settings, clock }: Lone,
  { plan, start, timeoutMs = settings.supervision.startTimeoutMs }: LoneAgentOptions,
  hear: (message: FromAgent, agent: LoneAgent) => Value | Promise<Value> | undefined,
) {
  const { agentName } = agent;
  const heard = Promise.withResolvers<Value>();
  const mask = maskSecrets(agent.secrets ?? []);
  let isHeard = false;
  const failed = (problem: string) => {
    // How it ends is of no interest once it has said what it was started for.
    if (isHeard) return;
    heard.reject(new GoondanError('E_PROCESS_START', mask(`The process of agent ${agentName} ${problem}.`)));
  };
  const stateRoot = join(folder, 'state');
  mkdirSync(stateRoot, { mode: 0o700 });
  const callOff = clock.after(timeoutMs, () => failed(`was not ready within ${timeoutMs} ms`));
  const process = superviseProcess<ToAgent, FromAgent>(
    child,
    {
      address: { agentName, instanceKey: 'default' },
      agent,
      agents: plan.agents.map(({ agentName: name, description }) =>
        description === undefined ? { name } : { name, description },
      ),
      store: { stateRoot, workspaceId: 'alone' },
      cwd: join(folder, 'cwd'),
      isNew: true,
      ...start,
    },
    { heartbeat: () => settings.heartbeat, clock },
    {
      message(message) {
        if (message.type === 'start.failed') return heard.reject(fromFrameError(message.error));
        const value = hear(message, { process, child });
        if (value === undefined) return;
        isHeard = true;
        void Promise.resolve(value).then(heard.resolve, heard.reject);
      },
      refused: (problem) => failed(`sent a rejected message: ${problem}`),
      hung: () => failed('does not answer'),
      exited: ({ code, signal }) => failed(`ended before it was ready (${signal ?? code ?? 'unknown'})`),
      cutOff: () => failed('closed its channel'),
      unsent: (_type, problem) => failed(`could not be told: ${problem}`),
    },
  );
  return { promise: heard.promise.finally(callOff), stop: (error: GoondanError) => heard.reject(error) };
}
