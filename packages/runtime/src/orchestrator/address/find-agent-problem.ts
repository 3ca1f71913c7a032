import { closestName } from '../../config/closest-name.ts';
import type { FrameError } from '../../ipc/check/frame-error.ts';

/** Returns the error for an unknown agent, listing the known agents, or `undefined` when the agent exists. */
export function findAgentProblem(agentName: string, agents: readonly string[]): FrameError | undefined {
  if (agents.includes(agentName)) return undefined;
  const known = agents.join(', ') || 'none';
  const meant = closestName(agentName, agents);
  return {
    code: 'E_AGENT_UNKNOWN',
    message: `There is no agent "${agentName}". Agents: ${known}.`,
    ...(meant === undefined ? {} : { suggestion: `Did you mean \`${meant}\`?` }),
  };
}
