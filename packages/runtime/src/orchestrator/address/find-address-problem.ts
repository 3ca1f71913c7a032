/** Checks the addresses that come from outside: the name of an agent and an instance key. */
import { GoondanError } from '@goondan/types';
import { closestName } from '../../config/closest-name.ts';
import type { FrameError } from '../../ipc/check/frame-error.ts';

/** The maximum length in characters. Keys are stored in files, in every event and in logs. */
const LONGEST_KEY = 1_024;

/**
 * Returns the problem with an instance key from outside, or `undefined`. Almost any text is valid, because
 * `pathSegment` turns it into a safe file name. Half of a surrogate pair is invalid, because every such half is stored
 * as the same bytes, and so is a NUL character, which PostgreSQL cannot keep.
 */
export function findKeyProblem(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (key.length > LONGEST_KEY) return `has ${key.length} characters; ${LONGEST_KEY} are allowed`;
  if (!key.isWellFormed()) return 'is not valid Unicode';
  if (key.includes('\0')) return 'contains a NUL character';
  return undefined;
}

/** Throws for an invalid key. **Errors** — `E_INSTANCE_KEY`. */
export function refuseKey(key: string): void {
  const problem = findKeyProblem(key);
  if (problem !== undefined) throw new GoondanError('E_INSTANCE_KEY', `An instance key ${problem}.`);
}

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
