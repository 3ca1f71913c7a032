/**
 * Loads one agent in a process of its own to see what it is made of, and ends it: no event, no turn, no conversation.
 * Nothing of the workspace is touched; it lives in a temporary folder. Its tools' and extensions' modules do run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../config/check-swarm-plan.ts';
import type { DeclaredAgent } from '../config/declared-agent.ts';
import type { SwarmPlan } from '../config/swarm-plan.ts';
import { fromFrameError } from '../ipc/check/frame-error.ts';
import type { AgentDescription } from '../ipc/from-agent.ts';
import { maskSecrets } from '../log/mask-secrets.ts';
import { type Clock, systemClock, waitAtMost } from '../ports/clock.ts';
import { agentChildren } from './agent-children.ts';
import { Endings } from './endings.ts';
import { keepGuardian } from './guardian/keep-guardian.ts';
import { newTag, RUN_VARIABLE } from './guardian/process-tag.ts';
import { type AgentChild, runAgentProcess } from './instances/agent-process.ts';
import { agentRunner } from './runner-path.ts';
import { childSpawner } from './spawn-child.ts';
import { type SwarmSettings, swarmSettings } from './swarm-settings.ts';

export interface InspectOptions {
  readonly plan: SwarmPlan;
  /** One of its agents. */
  readonly agentName: string;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** For its extensions to clean up; then it is killed. */
const CLEAN_UP_MS = 5_000;

/**
 * **Errors** — `E_SWARM_PLAN`, `E_AGENT_UNKNOWN`, `E_PROCESS_START` (also when it is not ready in time), `E_CANCELLED`,
 * those with which an agent fails to start.
 */
export async function inspectAgent(options: InspectOptions): Promise<AgentDescription> {
  const { agentName, signal, clock = systemClock } = options;
  const plan = checkSwarmPlan(options.plan);
  const agent = plan.agents.find((each) => each.agentName === agentName);
  if (agent === undefined) throw new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${agentName}".`);
  const endings = new Endings();
  try {
    const folder = mkdtempSync(join(tmpdir(), 'goondan-inspect-'));
    endings.add(() => rmSync(folder, { recursive: true, force: true }));
    const settings = swarmSettings(plan);
    const child = await startChild({ agent, folder, settings, clock, endings });
    const { promise, stop } = loadIn(child, { plan, agent, folder, settings, clock });
    const cancel = () => stop(new GoondanError('E_CANCELLED', `Agent "${agentName}" was not loaded.`));
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    return await promise.finally(() => signal?.removeEventListener('abort', cancel));
  } finally {
    await endings.endAll();
  }
}

interface Inspected {
  readonly agent: DeclaredAgent;
  readonly folder: string;
  readonly settings: SwarmSettings;
  readonly clock: Clock;
}

async function startChild({ agent, folder, settings, clock, endings }: Inspected & { readonly endings: Endings }) {
  const runTag = newTag(RUN_VARIABLE);
  const guardian = await keepGuardian({ tag: runTag, clock, warn: () => undefined });
  endings.add(async () => void (await guardian.standDown()));
  const spawn = childSpawner({ runTag, guardian, clock });
  const { restart } = settings.supervision;
  const children = agentChildren({ spawn, runner: agentRunner, folder, restart, clock, spares: 0 });
  const child = children.start(agent, {
    name: `agent ${agent.agentName}`,
    cwd: join(folder, 'cwd'),
    onOutput: () => undefined,
  });
  endings.add(async () => void (await child.kill(0)));
  return child;
}

function loadIn(child: AgentChild, { plan, agent, folder, settings, clock }: Inspected & { readonly plan: SwarmPlan }) {
  const { agentName } = agent;
  const loaded = Promise.withResolvers<AgentDescription>();
  const mask = maskSecrets(agent.secrets ?? []);
  let isReady = false;
  const failed = (problem: string) => {
    // How it ends is of no interest once it has said what it is made of.
    if (isReady) return;
    loaded.reject(new GoondanError('E_PROCESS_START', mask(`The process of agent ${agentName} ${problem}.`)));
  };
  const stateRoot = join(folder, 'state');
  mkdirSync(stateRoot, { mode: 0o700 });
  const { startTimeoutMs } = settings.supervision;
  const callOff = clock.after(startTimeoutMs, () => failed(`was not ready within ${startTimeoutMs} ms`));
  const process = runAgentProcess(
    child,
    {
      address: { agentName, instanceKey: 'default' },
      agent,
      agents: plan.agents.map(({ agentName: name }) => ({ name })),
      store: { stateRoot, workspaceId: 'inspected' },
      cwd: join(folder, 'cwd'),
      isNew: true,
    },
    { heartbeat: settings.heartbeat, clock },
    {
      message(message) {
        if (message.type === 'start.failed') return loaded.reject(fromFrameError(message.error));
        if (message.type !== 'ready') return;
        const { extensions, layers, tools } = message;
        isReady = true;
        process.say({ type: 'drain', graceMs: CLEAN_UP_MS });
        void waitAtMost(clock, CLEAN_UP_MS, child.exited).then(() => loaded.resolve({ extensions, layers, tools }));
      },
      refused: (problem) => failed(`said what was not let in: ${problem}`),
      hung: () => failed('does not answer'),
      exited: ({ code, signal }) => failed(`ended before it was ready (${signal ?? code ?? 'unknown'})`),
      cutOff: () => failed('closed its channel'),
      unsayable: (problem) => failed(`could not be told: ${problem}`),
    },
  );
  return { promise: loaded.promise.finally(callOff), stop: (error: GoondanError) => loaded.reject(error) };
}
