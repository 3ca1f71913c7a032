import { type AgentAddress, GoondanError } from '@goondan/types';

/** Returns the name of an instance in messages about its log. */
export function nameInstance({ agentName, instanceKey }: AgentAddress): string {
  return `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
}

export function corruptLine(instance: AgentAddress, problem: string): GoondanError {
  return new GoondanError('E_STORE_CORRUPT', `The log of ${nameInstance(instance)} is damaged: ${problem}`);
}
