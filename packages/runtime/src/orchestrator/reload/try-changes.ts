/**
 * Starts the changed parts of a reload on trial, beside the running parts, before anything is replaced.
 *
 * Invariants:
 * 1. Every new or changed agent and connection is tried, whether or not it has a process at the moment. A part whose
 *    values this node misses is not: it does not run here.
 * 2. Of an agent that changes in its running processes, only the new and changed parts are loaded. Of any other agent,
 *    all parts are, because no process would load the new parts beside the retained ones before the plan is in force.
 * 3. One trial runs at a time, in addition to `policy.maxProcesses`; each has the time limit of a normal start.
 * 4. When `tryChanges` settles, no trial is running, and none begins after a failure.
 */
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { type AgentReconcile, identityOf } from '../../config/reconcile-agent.ts';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { Plan } from '../plan/current-plan.ts';
import { namesOf, type PlanChanges } from './apply-plan.ts';
import { failReload } from './fail-reload.ts';

/**
 * Starts one part, and ends it when it is ready. Rejects when the part does not become ready, or `signal` aborts; in
 * either case no process is left.
 */
export interface Trials {
  agent(agent: DeclaredAgent, plan: Plan, signal: AbortSignal): Promise<unknown>;
  connection(connection: ConnectionPlan, plan: Plan, signal: AbortSignal): Promise<unknown>;
}

/**
 * Runs the trials. `agents`: the changes of the agents that have a process. `onTrial` is called with the identity of each part before its trial.
 *
 * **Errors** — `E_RELOAD_FAILED`, naming the part and the reason, or the reason of `signal` if it aborted.
 */
export async function tryChanges(
  changes: Pick<PlanChanges, 'changed' | 'added' | 'agents'>,
  plan: Plan,
  trials: Trials,
  signal: AbortSignal,
  onTrial: (identity: string) => void = () => undefined,
): Promise<void> {
  for (const { identity, start } of partsToTry(changes, plan, trials)) {
    if (signal.aborted) break;
    onTrial(identity);
    try {
      await start(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failReload(`${identity} does not start with the changed bundle.`, error, plan.secrets.mask);
    }
  }
}

function partsToTry(
  { changed, added, agents: inDetail }: Parameters<typeof tryChanges>[0],
  plan: Plan,
  trials: Trials,
) {
  const identities = [...changed, ...added];
  const agentNames = namesOf('Agent', identities);
  const agents = [...plan.agents.values()].filter(
    ({ agentName, missing }) => agentNames.has(agentName) && missing === undefined,
  );
  const connectionNames = namesOf('Connection', identities);
  const connections = (plan.plan.connections ?? []).filter(
    ({ connection, missing }) => connectionNames.has(connection) && missing === undefined,
  );
  return [
    ...agents.map((agent) => ({
      identity: `Agent/${agent.agentName}`,
      start: (signal: AbortSignal) => trials.agent(partsOnTrial(agent, inDetail.get(agent.agentName)), plan, signal),
    })),
    ...connections.map((each) => ({
      identity: `Connection/${each.connection}`,
      start: (signal: AbortSignal) => trials.connection(each, plan, signal),
    })),
  ];
}

/** Returns the agent with the parts that are loaded on trial (invariant 2). `change` is absent for a new agent, and without a process. */
function partsOnTrial(agent: DeclaredAgent, change: AgentReconcile | undefined): DeclaredAgent {
  if (change === undefined || change.replaces !== undefined) return agent;
  const { tools = [], extensions = [] } = agent;
  const retained = change.parts.filter(({ fate }) => fate === 'retained').map(({ identity }) => identity);
  const isTried = (part: (typeof tools | typeof extensions)[number]) => !retained.includes(identityOf(part));
  return { ...agent, tools: tools.filter(isTried), extensions: extensions.filter(isTried) };
}
