/**
 * Converts between the two shapes of an address: with `agent` for users of a swarm, with `agentName` for extensions and
 * storage.
 */
import type { AgentAddress } from '@goondan/types';
import type { InstanceAddress } from './swarm.ts';

export function toAgentAddress({ agent, instanceKey }: InstanceAddress): AgentAddress {
  return { agentName: agent, instanceKey };
}

export function toInstanceAddress({ agentName, instanceKey }: AgentAddress): InstanceAddress {
  return { agent: agentName, instanceKey };
}
