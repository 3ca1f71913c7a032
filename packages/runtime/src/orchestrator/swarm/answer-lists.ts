/** Answers agents that ask for the instances of other agents (`agents__list`). */
import type { AgentAddress, AgentInstance } from '@goondan/types';
import type { ClusterStore } from '../../store/cluster-store.ts';
import { addressKey } from '../address/address-key.ts';
import type { Instances } from '../instances/instances.ts';
import type { AgentFrame, Report, SwarmListener } from '../instances/swarm-listener.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import { callRulesOf, type CurrentPlan } from '../plan/current-plan.ts';

export interface AnswerListsDeps {
  readonly currentPlan: CurrentPlan;
  readonly instances: Pick<Instances, 'find'>;
  /** Lists the instances that this node knows. */
  readonly list: () => readonly AgentInstance[];
  /** Instances of the whole swarm; absent on files, where the only node knows all. */
  readonly stored: Pick<ClusterStore, 'listInstances'> | undefined;
  readonly report: Report;
}

/** The maximum number of listed instances, because a model reads the list and a frame must contain it. */
const MOST_LISTED = 1_000;

export class AnswerLists implements SwarmListener {
  constructor(private readonly deps: AnswerListsDeps) {}

  heard(at: AgentAddress, frame: AgentFrame): void {
    if (frame.type === 'agents.list') void this.#answer(at, frame.callId);
  }

  async #answer(at: AgentAddress, callId: string): Promise<void> {
    const { currentPlan, instances, list, stored } = this.deps;
    const agents = callRulesOf(currentPlan.value).askableBy(at.agentName);
    const askable = new Set(agents);
    const known = list().filter(({ agentName }) => askable.has(agentName));
    const others = stored === undefined ? [] : await this.#others(at, known, agents);
    const listed = [...known, ...others].slice(0, MOST_LISTED);
    instances.find(at)?.say({ type: 'agents.listed', callId, instances: listed });
  }

  /** Lists instances that this node does not hold. One with input works at its node; the others count as asleep. */
  async #others(
    at: AgentAddress,
    known: readonly AgentInstance[],
    agents: readonly string[],
  ): Promise<readonly AgentInstance[]> {
    const keys = new Set(known.map(addressKey));
    try {
      const found = await this.deps.stored?.listInstances({ agents, most: MOST_LISTED });
      return (found ?? [])
        .filter((each) => !keys.has(addressKey(each)))
        .map(({ workingAt, ...each }) => ({ ...each, status: workingAt === undefined ? 'asleep' : 'working' }));
    } catch (error) {
      const message = `An agent got a list of the instances of this node only: ${messageOf(error)}`;
      this.deps.report('warn', 'agents.not_listed', message, at);
      return [];
    }
  }
}
