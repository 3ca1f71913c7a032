import type { AgentAddress } from '@goondan/types';

/** Returns an address as the key of a map. Two addresses never share a key, whatever their names contain. */
export function addressKey({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}

export function isSameAddress(left: AgentAddress, right: AgentAddress): boolean {
  return left.agentName === right.agentName && left.instanceKey === right.instanceKey;
}
