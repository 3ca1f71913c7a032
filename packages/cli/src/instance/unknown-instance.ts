import { closestName } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';

/**
 * Creates the error `E_INSTANCE_UNKNOWN`, with a suggestion: another conversation of the same agent, or another agent.
 */
export function unknownInstance(
  { agentName, instanceKey }: AgentAddress,
  known: readonly AgentAddress[],
): GoondanError {
  const keys = known.filter((each) => each.agentName === agentName).map((each) => each.instanceKey);
  const agents = [...new Set(known.map((each) => each.agentName))];
  const meant = keys.length > 0 ? closestName(instanceKey, keys) : closestName(agentName, agents);
  const what = keys.length > 0 ? `no conversation ${JSON.stringify(instanceKey)}` : 'no conversations';
  const suggestion = `Did you mean \`${meant ?? ''}\`? \`gdn instance list\` lists the conversations.`;
  return new GoondanError(
    'E_INSTANCE_UNKNOWN',
    `Agent "${agentName}" has ${what}.`,
    meant === undefined ? {} : { suggestion },
  );
}
