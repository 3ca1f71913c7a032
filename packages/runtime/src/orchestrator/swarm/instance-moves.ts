/**
 * Instances that leave this node: lost to another node, given up because the node drains or misses a value of their agent,
 * or released because they slept for a while. Their input is in the store, and their next owner handles it.
 */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { Questions } from '../questions/questions.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Instances } from '../instances/instances.ts';
import type { OwnedInstances } from '../instances/owned-instances.ts';
import { RestingInstances } from '../instances/resting-instances.ts';
import type { Report } from '../instances/swarm-listener.ts';
import type { Keepers } from '../keepers/keepers.ts';
import type { CurrentPlan, Plan } from '../plan/current-plan.ts';
import type { ClusterPlacement } from '../../store/cluster-store.ts';
import type { AgentCalls } from '../router/agent-calls.ts';
import type { Mailboxes } from '../router/mailboxes.ts';
import type { UnreadInboxes } from '../router/unread-inboxes.ts';
import type { TurnWaiters } from '../watch/turn-waiters.ts';

export interface InstanceMovesDeps {
  readonly clock: Clock;
  readonly owned: OwnedInstances;
  readonly instances: Instances;
  readonly mailboxes: Pick<Mailboxes, 'between'>;
  readonly unread: Pick<UnreadInboxes, 'delete'>;
  readonly questions: Pick<Questions, 'moved'>;
  readonly calls: Pick<AgentCalls, 'moved' | 'acceptedElsewhere'>;
  readonly waiters: Pick<TurnWaiters, 'failed'>;
  readonly keepers?: Pick<Keepers, 'endConversation'>;
  readonly currentPlan: Pick<CurrentPlan, 'follow'>;
  /** The place among other nodes; absent on files. */
  readonly placement?: Pick<ClusterPlacement, 'node' | 'refuseAgents'> | undefined;
  readonly report: Report;
}

/** The time that a turn may take before its instance is given up: a day, because a move is not urgent. */
const GIVE_UP_MS = 86_400_000;

export class InstanceMoves {
  readonly #resting: RestingInstances;
  /** The reported parts with missing values, as sentences. */
  #incomplete: ReadonlySet<string> = new Set();

  constructor(private readonly deps: InstanceMovesDeps) {
    this.#resting = new RestingInstances({ ...deps, release: (at) => this.#release(at) });
    const { placement } = deps;
    if (placement !== undefined) deps.currentPlan.follow((plan) => this.#leaveIncomplete(plan, placement));
  }

  /**
   * Forgets an instance that does not belong to this node any more, and kills its process. Who waits for it here gets
   * `E_FENCED`, and can ask the node that owns it.
   */
  moved(at: AgentAddress): void {
    const { owned, instances, unread, questions, calls, keepers, waiters } = this.deps;
    owned.lost(at);
    if (instances.find(at) !== undefined) instances.post(at, { type: 'moved' });
    instances.forget(at);
    unread.delete(at);
    questions.moved(at);
    calls.moved(at);
    void keepers?.endConversation(at);
    waiters.failed(at, elsewhereError(at));
  }

  /** Kills all processes at once, because this node has lost its place. */
  lostAll(): void {
    this.deps.owned.giveUp();
    for (const { address } of [...this.deps.instances.all()]) this.moved(address);
  }

  /** Gives up all instances, each when its turn has ended. Their other events wait for the next owner. */
  async giveUpAll(): Promise<void> {
    const { owned } = this.deps;
    owned.giveUp();
    await Promise.all(owned.all().map((at) => this.#giveUp(at)));
  }

  slept(at: AgentAddress): void {
    this.#resting.slept(at);
  }

  /** Handles an event that was accepted here, for an instance of another node. */
  acceptedElsewhere(to: AgentAddress, event: AgentEvent): void {
    const { instances, calls, waiters } = this.deps;
    instances.forget(to);
    calls.acceptedElsewhere(to, event);
    waiters.failed(to, elsewhereError(to));
  }

  close(): void {
    this.#resting.close();
  }

  /** Leaves the agents whose values this node misses to other nodes, and reports each once. */
  #leaveIncomplete(
    { plan: { agents, connections = [] } }: Plan,
    placement: Pick<ClusterPlacement, 'node' | 'refuseAgents'>,
  ): void {
    const { owned, report } = this.deps;
    const refused = new Set(agents.filter(({ missing }) => missing !== undefined).map(({ agentName }) => agentName));
    placement.refuseAgents(refused);
    const known = this.#incomplete;
    this.#incomplete = new Set(listMissing({ agents, connections }));
    for (const problem of this.#incomplete) {
      if (!known.has(problem)) report('warn', 'node.incomplete', `Node "${placement.node}" ${problem}`);
    }
    for (const at of owned.all()) if (refused.has(at.agentName)) void this.#giveUp(at).catch(() => undefined);
  }

  async #giveUp(at: AgentAddress): Promise<void> {
    const { instances, mailboxes } = this.deps;
    await instances.whileAsleep(at, { graceMs: GIVE_UP_MS }, () => mailboxes.between(at, () => this.#leave(at)));
  }

  /** Releases an instance that sleeps, unless it has work again. */
  async #release(at: AgentAddress): Promise<void> {
    const { instances, mailboxes } = this.deps;
    await mailboxes.between(at, async () => {
      const { hasProcess = false, state } = instances.find(at) ?? {};
      if (!hasProcess && (state?.queue.length ?? 0) === 0) await this.#leave(at);
    });
  }

  async #leave(at: AgentAddress): Promise<void> {
    await this.deps.owned.release(at);
    this.moved(at);
  }
}

/** Returns the part of a status that tells missing values. */
export function describeMissing(plan: SwarmPlan): { readonly missing?: readonly string[] } {
  const missing = listMissing(plan);
  return missing.length === 0 ? {} : { missing };
}

/** Says for each agent and connection that this node does not run it, and why. */
function listMissing({ agents, connections = [] }: Pick<SwarmPlan, 'agents' | 'connections'>): readonly string[] {
  const say = (part: string, missing: readonly string[] = []) =>
    missing.length === 0
      ? []
      : [`does not run ${part}: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set.`];
  return [
    ...agents.flatMap(({ agentName, missing }) => say(`agent "${agentName}"`, missing)),
    ...connections.flatMap(({ connection, missing }) => say(`connection "${connection}"`, missing)),
  ];
}

function elsewhereError({ agentName, instanceKey }: AgentAddress): GoondanError {
  const message = `Conversation ${JSON.stringify(instanceKey)} of agent "${agentName}" belongs to another node.`;
  return new GoondanError('E_FENCED', message, { retryable: true });
}
