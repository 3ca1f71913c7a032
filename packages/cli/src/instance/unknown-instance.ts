import { closestName } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';

/**
 * Creates the error `E_INSTANCE_UNKNOWN`, with a suggestion: another conversation of the same agent, or another agent.
 * Without `agentName`, the conversation may belong to any agent.
 */
export function unknownInstance(
  { agentName, instanceKey }: Pick<AgentAddress, 'instanceKey'> & Partial<AgentAddress>,
  known: readonly AgentAddress[],
): GoondanError {
  if (known.length === 0) {
    const suggestion = 'Begin one with `gdn run --input TEXT`, or type `gdn run` to chat.';
    return new GoondanError('E_INSTANCE_UNKNOWN', 'There are no conversations yet.', { suggestion });
  }
  const keys = known.filter((each) => each.agentName === (agentName ?? each.agentName)).map((each) => each.instanceKey);
  const agents = [...new Set(known.map((each) => each.agentName))].toSorted();
  const meant = keys.length > 0 ? closestName(instanceKey, keys) : closestName(agentName ?? '', agents);
  const what =
    keys.length > 0
      ? `no conversation ${JSON.stringify(instanceKey)}.`
      : `no conversations. Agents with conversations: ${agents.join(', ')}.`;
  const suggestion = `Did you mean \`${meant ?? ''}\`? \`gdn instance list\` lists the conversations.`;
  return new GoondanError(
    'E_INSTANCE_UNKNOWN',
    `${agentName === undefined ? 'The swarm' : `Agent "${agentName}"`} has ${what}`,
    meant === undefined ? {} : { suggestion },
  );
}
