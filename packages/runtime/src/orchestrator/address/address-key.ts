import type { AgentAddress } from '@goondan/types';

/** An address as the key of a map. Two addresses never share one, whatever is in their names. */
export function addressKey({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}

export function isSameAddress(left: AgentAddress, right: AgentAddress): boolean {
  return left.agentName === right.agentName && left.instanceKey === right.instanceKey;
}
