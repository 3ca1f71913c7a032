/**
 * Applies another plan to a running swarm.
 *
 * Invariants:
 * 1. Parts are compared by identity and content. An unchanged part is not affected (L-01).
 * 2. The process of a changed agent is changed in place, at its next step. If the change needs another process, the
 *    process is replaced between turns: a running turn is finished by the process that began it.
 * 3. The plan is put in force when every process that changes in place is ready for it, and otherwise not at all.
 * 4. Pending input of a removed agent stays on disk until an agent of this name is declared again.
 */
import { isDeepStrictEqual } from 'node:util';
import { endedConnections } from '../../config/kept-extension.ts';
import { changedFields, type PlanReconcile, planReconcile } from '../../config/plan-reconcile.ts';
import { type AgentReconcile, isReordered, reconcileAgent } from '../../config/reconcile-agent.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { defaultPolicy } from '../../config/turn-policy.ts';
import type { AgentChange, ReloadResult } from '../../control/reload-result.ts';
import { toInstanceAddress } from '../../control/instance-address.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import { fateOf, MOST_CHANGES } from '../changes/change-round.ts';
import { ChangeFailure, type ChangingProcess, type PreparedChange } from '../changes/process-changes.ts';
import type { Connections } from '../connections/connections.ts';
import { routedAgents } from '../ingress/route-event.ts';
import type { Instance } from '../instances/instance.ts';
import type { Plan, CurrentPlan } from '../plan/current-plan.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import { failReload } from './fail-reload.ts';
import { tellAgents } from './tell-agents.ts';

export interface ReloadDeps {
  readonly currentPlan: CurrentPlan;
  readonly swarm: SwarmAgents;
  readonly connections: Connections;
}

/** The changes of a plan: by identity, and part by part for each changed agent. */
export interface PlanChanges extends PlanReconcile {
  /** The changed agents by name. */
  readonly agents: ReadonlyMap<string, AgentReconcile & { readonly ended?: readonly string[] }>;
}

/**
 * Applies a checked plan. Resolves when it is in force; busy processes take it after their step or their turn.
 *
 * **Errors** — `E_RELOAD_FAILED` when a process cannot take the change; the reason of `signal`. The old plan then stays
 * in force.
 */
export async function applyPlan(
  deps: ReloadDeps,
  wanted: SwarmPlan,
  signal: AbortSignal = new AbortController().signal,
): Promise<ReloadResult> {
  const { currentPlan, swarm, connections } = deps;
  const next = currentPlan.preview(wanted);
  const changes = comparePlans(currentPlan.value, next);
  const processes = processesToChange(swarm, changes, next);
  const prepared = await prepareProcesses(swarm, processes, changes, next, signal);

  if (signal.aborted) prepared.drop();
  signal.throwIfAborted();
  // From here on nothing fails, and nothing waits until the plan is in force.
  const before = currentPlan.replace(wanted);
  const after = currentPlan.value;
  const removed = namesOf('Agent', changes.removed);
  const changing = new Set(processes.map(({ instance }) => instance));
  const agents = describeAgents(swarm, changes, changing, { before, after });
  const retried = stuckInstances(swarm, changes);
  swarm.instances.redeclare();
  const plans = (wanted.connections ?? []).map((each) => after.secrets.addEarlier(each));
  connections.replace(plans, namesOf('Connection', changes.changed), after.settings.graceMs);
  swarm.keepers?.retain();
  if (!isDeepStrictEqual(toldAbout(before), toldAbout(after))) tellAgents(swarm.instances, after);
  for (const instance of [...swarm.instances.all()]) {
    const { agentName } = instance.address;
    if (removed.has(agentName)) void retire(instance, before, swarm);
    else if (changes.agents.has(agentName) && !changing.has(instance)) void replaceProcess(instance, before, swarm);
  }
  prepared.swap();
  // Resets the counts of crashes, because the change may have fixed their cause.
  for (const { address } of changing) void swarm.forgive(address);
  for (const { address } of retried) void swarm.forgive(address);
  await swarm.wake(namesOf('Agent', changes.added));
  // Frames are written at the end of their tick. After a reload, the next step of a running turn has the new parts.
  await new Promise((resolve) => void setImmediate(resolve));
  const { agents: _, ...identities } = changes;
  const fields = changedFields(before.plan, after.plan);
  return {
    ...identities,
    agents,
    ...(fields.length === 0 ? {} : { fields }),
    ...(retried.length === 0 ? {} : { retried: retried.map(({ address }) => toInstanceAddress(address)) }),
  };
}

/**
 * Lists the instances of unchanged agents whose last start failed. They try again, because the files may be as they were
 * before, which is no change of the plan.
 */
function stuckInstances({ instances }: SwarmAgents, { kept }: PlanChanges): readonly Instance[] {
  const names = namesOf('Agent', kept);
  return [...instances.all()].filter(
    ({ address, state, hasProcess }) => names.has(address.agentName) && state.startError !== undefined && !hasProcess,
  );
}

/** Lists the processes that take the change in place. */
function processesToChange(swarm: SwarmAgents, changes: PlanChanges, next: Plan): readonly ChangingProcess[] {
  return [...swarm.instances.all()].flatMap((instance) => {
    const { agentName } = instance.address;
    const [change, agent] = [changes.agents.get(agentName), next.agents.get(agentName)];
    if (change === undefined || agent === undefined || agent.missing !== undefined) return [];
    return fateOf(instance.state.phase, change.replaces, instance.changes) === 'prepare' ? [{ instance, agent }] : [];
  });
}

async function prepareProcesses(
  { changes: processChanges }: SwarmAgents,
  processes: readonly ChangingProcess[],
  changes: PlanChanges,
  { settings, secrets }: Plan,
  signal: AbortSignal,
): Promise<PreparedChange> {
  const inPlace = [...changes.agents].filter(([, { replaces }]) => replaces === undefined);
  const agents = new Set(inPlace.map(([agentName]) => agentName));
  const { startTimeoutMs: timeoutMs } = settings.supervision;
  try {
    return await processChanges.prepare(processes, { agents, timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof ChangeFailure)) throw error;
    const { agentName, instanceKey } = error.address;
    const where = `Agent/${agentName} cannot take the change in conversation ${JSON.stringify(instanceKey)}.`;
    throw failReload(where, fromFrameError(error.error), secrets.mask);
  }
}

/** Describes the change of each agent. Call it before processes are asked to end. */
function describeAgents(
  { instances }: SwarmAgents,
  changes: PlanChanges,
  changing: ReadonlySet<Instance>,
  { before, after }: { readonly before: Plan; readonly after: Plan },
): readonly AgentChange[] {
  const all = [...instances.all()];
  const instancesOf = (agent: string) => all.filter(({ address }) => address.agentName === agent);
  const changed = [...changes.agents].map(([agent, { parts, replaces, ended = [] }]): AgentChange => {
    const own = instancesOf(agent);
    const others = replaces === undefined ? own.filter((each) => !changing.has(each)) : [];
    const renewed = keysOf(others.filter((each) => each.changes >= MOST_CHANGES));
    const leaving = keysOf(others.filter((each) => each.changes < MOST_CHANGES && each.running !== undefined));
    return {
      agent,
      parts,
      ...(isReordered(before.agents.get(agent) ?? {}, after.agents.get(agent) ?? {}) ? { reordered: true } : {}),
      ...(replaces === undefined ? {} : { replaced: replaces }),
      ...(ended.length === 0 ? {} : { ended }),
      ...(renewed.length === 0 ? {} : { renewed }),
      ...(leaving.length === 0 ? {} : { leaving }),
      finishing: finishingOf(own),
    };
  });
  const removed = [...namesOf('Agent', changes.removed)].map((agent): AgentChange => {
    return { agent, parts: [], removed: true, finishing: finishingOf(instancesOf(agent)) };
  });
  return [...changed, ...removed.filter(({ finishing }) => finishing.length > 0)];
}

function keysOf(instances: readonly Instance[]): string[] {
  return instances.map(({ address }) => address.instanceKey);
}

function finishingOf(instances: readonly Instance[]): string[] {
  return keysOf(instances.filter(({ running }) => running !== undefined));
}

/** Returns the parts of a plan that all running processes are told about. */
function toldAbout({ plan, connections }: Plan) {
  const agents = plan.agents.map(({ agentName, description, mayAsk }) => ({ agentName, description, mayAsk }));
  return { agents, connections };
}

/** Lists the changes from one plan to the other. */
export function comparePlans(before: Plan, after: Plan): PlanChanges {
  const changes = planReconcile(asRun(before), asRun(after));
  const agents = [...namesOf('Agent', changes.changed)].flatMap((agentName) => {
    const [running, wanted] = [before.agents.get(agentName), after.agents.get(agentName)];
    if (running === undefined || wanted === undefined) return [];
    const change = { ...reconcileAgent(running, wanted), ended: endedConnections(running, wanted) };
    return [[agentName, change] as const];
  });
  return { ...changes, agents: new Map(agents) };
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

/** Ends the process of a removed agent (invariant 4). Waiting callers get an error. */
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
