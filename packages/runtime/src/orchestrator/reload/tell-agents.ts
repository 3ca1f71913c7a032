import type { Instances } from '../instances/instances.ts';
import { cardsFor, type Plan } from '../plan/current-plan.ts';

/** Sends the lists of agents and connections of a plan to every process. */
export function tellAgents(instances: Pick<Instances, 'all'>, { plan, agents, connections }: Plan): void {
  for (const instance of instances.all()) {
    const { agentName } = instance.address;
    const agent = agents.get(agentName);
    instance.say({
      type: 'agents.changed',
      agents: agent === undefined ? [] : cardsFor(plan, agent),
      connections: connections.get(agentName) ?? [],
    });
  }
}
