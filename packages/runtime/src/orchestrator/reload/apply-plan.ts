/**
 * Applies another plan to a running swarm.
 *
 * Invariants:
 * 1. Parts are compared by identity and content. An unchanged part keeps its process and is not affected (L-01).
 * 2. The process of a changed agent is replaced between turns: a running turn is finished by the process that began it.
 * 3. Pending input of a removed agent stays on disk until an agent of this name is declared again.
 */
import { isDeepStrictEqual } from 'node:util';
import { type PlanReconcile, planReconcile } from '../../config/plan-reconcile.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { defaultPolicy } from '../../config/turn-policy.ts';
import type { Connections } from '../connections/connections.ts';
import { routedAgents } from '../ingress/route-event.ts';
import type { Instance } from '../instances/instance.ts';
import type { Plan, CurrentPlan } from '../plan/current-plan.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';

export interface ReloadDeps {
  readonly currentPlan: CurrentPlan;
  readonly swarm: SwarmAgents;
  readonly connections: Connections;
}

/** Applies a checked plan. Resolves when it is in force; busy processes are replaced when their turns end. */
export async function applyPlan(deps: ReloadDeps, wanted: SwarmPlan): Promise<PlanReconcile> {
  const { currentPlan, swarm, connections } = deps;
  const before = currentPlan.replace(wanted);
  const after = currentPlan.value;
  const changes = comparePlans(before, after);
  const changed = namesOf('Agent', changes.changed);
  const removed = namesOf('Agent', changes.removed);

  swarm.instances.redeclare();
  const { connections: plans = [] } = wanted;
  connections.replace(plans, namesOf('Connection', changes.changed), after.settings.graceMs);
  swarm.keepers?.retain();
  if (!isDeepStrictEqual(toldAbout(before), toldAbout(after))) swarm.tellAgents();
  for (const instance of [...swarm.instances.all()]) {
    const { agentName } = instance.address;
    if (removed.has(agentName)) void retire(instance, before, swarm);
    else if (changed.has(agentName)) void replaceProcess(instance, before, swarm);
  }
  await swarm.wake(namesOf('Agent', changes.added));
  return changes;
}

/** Returns the parts of a plan that all running processes are told about. */
function toldAbout({ plan, connections }: Plan) {
  const agents = plan.agents.map(({ agentName, description, mayAsk }) => ({ agentName, description, mayAsk }));
  return { agents, connections };
}

/** Lists the changes from one plan to the other. */
export function comparePlans(before: Plan, after: Plan): PlanReconcile {
  return planReconcile(asRun(before), asRun(after));
}

/**
 * Returns the plan in the form that the processes get: each agent includes the swarm's settings for turns, and each
 * connection its targets.
 */
function asRun({ plan, agents, entryAgent }: Plan): SwarmPlan {
  const { connections = [] } = plan;
  return {
    ...plan,
    agents: [...agents.values()],
    connections: connections.map((each) => ({ ...each, agents: routedAgents(each.rules, entryAgent) })),
  };
}

export function namesOf(kind: 'Agent' | 'Connection', identities: readonly string[]): Set<string> {
  const prefix = `${kind}/`;
  return new Set(identities.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length)));
}

/** Replaces the process between turns (invariant 2). */
async function replaceProcess({ address }: Instance, before: Plan, swarm: SwarmAgents): Promise<void> {
  // Resets the count of crashes, because the change may have fixed their cause.
  await swarm.instances.whileAsleep(address, graceOf(address.agentName, before), () => swarm.forgive(address));
}

/** Ends the process of a removed agent (invariant 3). Waiting callers get an error. */
async function retire({ address }: Instance, before: Plan, swarm: SwarmAgents): Promise<void> {
  await swarm.instances.whileAsleep(address, graceOf(address.agentName, before), async () => {
    if (swarm.agents.includes(address.agentName)) return;
    const message = `Agent "${address.agentName}" was removed from the swarm.`;
    swarm.failRequests(address, { code: 'E_AGENT_UNKNOWN', message });
  });
}

/**
 * Returns the grace for a process. The running turn has its own deadline; the grace applies to the work after the turn.
 */
function graceOf(agentName: string, { agents, settings: { graceMs } }: Plan) {
  const { turnTimeoutMs = defaultPolicy.turnTimeoutMs } = agents.get(agentName)?.policy ?? {};
  return { graceMs: turnTimeoutMs + graceMs, cleanUpMs: graceMs };
}
