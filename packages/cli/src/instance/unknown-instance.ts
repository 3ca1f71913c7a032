import { closestName } from '@goondan/runtime';
import { type AgentAddress, GoondanError } from '@goondan/types';

/** `E_INSTANCE_UNKNOWN`, with what was probably meant: a key of that agent, or that key of another agent. */
export function unknownInstance({ agentName, instanceKey }: AgentAddress, known: readonly AgentAddress[]) {
  const message = `${agentName} has no conversation "${instanceKey}".`;
  const meant = closest({ agentName, instanceKey }, known);
  if (meant === undefined) return new GoondanError('E_INSTANCE_UNKNOWN', message);
  const suggestion = `Did you mean ${meant.agentName} "${meant.instanceKey}"? \`gdn instance list\` shows all of them.`;
  return new GoondanError('E_INSTANCE_UNKNOWN', message, { suggestion });
}

function closest({ agentName, instanceKey }: AgentAddress, known: readonly AgentAddress[]): AgentAddress | undefined {
  const ofAgent = known.filter((each) => each.agentName === agentName).map((each) => each.instanceKey);
  const key = closestName(instanceKey, ofAgent);
  if (key !== undefined) return { agentName, instanceKey: key };
  const withKey = known.filter((each) => each.instanceKey === instanceKey).map((each) => each.agentName);
  const name = closestName(agentName, withKey);
  return name === undefined ? undefined : { agentName: name, instanceKey };
}
